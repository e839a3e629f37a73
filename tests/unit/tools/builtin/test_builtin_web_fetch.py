from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from caddie.tools.builtin.web_address import checked, is_public, parsed
from caddie.tools.builtin.web_fetch import TOOL
from caddie.tools.builtin.web_page import as_markdown
from caddie.tools.tool import TextPreview

PAGE = """<!doctype html><html><head><title>A  title</title><script>alert(1)</script><style>p{}</style>
<body><h1>Head</h1><p>Some <b>bold</b> text with a <a href="/x">link</a>.</p><ul><li>one</li></ul></body></html>"""


class Site:
    """A web site on loopback: `pages` maps a path to status, headers and body."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.hold = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.requests.append((self.path, self.headers["Host"]))
                if self.path == "/hang":
                    site.hold.wait(30)
                status, headers, body = site.pages.get(self.path, (404, {"Content-Type": "text/plain"}, b"not here"))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:
                    pass  # the client has seen enough

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def serve(self, path: str, body: str | bytes, media_type: str = "text/html", **headers: str) -> None:
        data = body if isinstance(body, bytes) else body.encode()
        self.pages[path] = (200, {"Content-Type": media_type, **headers}, data)

    def redirect(self, path: str, to: str) -> None:
        self.pages[path] = (302, {"Location": to}, b"")


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.hold.set()
    site.server.shutdown()
    site.server.server_close()


@pytest.fixture
def resolve_to(monkeypatch) -> Callable[..., None]:
    """Every name leads to these addresses; no test asks a real name server."""
    monkeypatch.setattr("urllib.request.getproxies", dict)

    def resolve(*addresses: str) -> None:
        rows = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in addresses]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows)

    return resolve


async def test_a_page_becomes_markdown_under_its_address_and_a_warning(world, site):
    site.serve("/a", PAGE)
    text = await world.text(TOOL, url=site.url("/a"))
    head, _, body = text.partition("\n\n")
    assert head.splitlines()[:2] == [f"URL: {site.url('/a')}", "Title: A title"]
    assert "untrusted content" in head
    assert body == "# Head\n\nSome **bold** text with a [link](/x).\n\n- one"


async def test_text_and_json_come_as_they_are_in_their_charset(world, site):
    site.serve("/t", "grün".encode("latin-1"), "text/plain; charset=latin-1")
    site.serve("/j", '{"a": [1]}', "application/vnd.api+json")
    assert (await world.text(TOOL, url=site.url("/t"))).endswith("\n\ngrün")
    assert (await world.text(TOOL, url=site.url("/j", host="localhost"))).endswith('\n\n{"a": [1]}')
    assert site.requests[-1][1] == f"localhost:{site.port}"


async def test_what_is_no_text_is_refused_with_its_type(world, site):
    site.serve("/p", b"\x89PNG", "image/png")
    assert "image/png, 4 bytes; only text" in await world.failure(TOOL, url=site.url("/p"))


async def test_an_error_status_is_an_error_with_what_the_page_says(world, site):
    message = await world.failure(TOOL, url=site.url("/none"))
    assert "HTTP status 404. It says (untrusted): not here" in message


async def test_a_redirect_in_the_same_place_is_followed(world, site):
    site.redirect("/a", "b?x=1")
    site.serve("/b?x=1", "arrived", "text/plain")
    text = await world.text(TOOL, url=site.url("/a"))
    assert text.startswith(f"URL: {site.url('/b?x=1')}\n")
    assert text.endswith("arrived")


async def test_a_redirect_elsewhere_is_reported_and_not_followed(world, site):
    for target in ("http://example.org/x", f"http://localhost:{site.port}/b", "http://127.0.0.1:9/b"):
        site.redirect("/a", target)
        text = await world.text(TOOL, url=site.url("/a"))
        assert "redirects to another host and was not followed" in text
    assert [path for path, _ in site.requests] == ["/a"] * 3


async def test_a_redirect_to_a_file_and_endless_ones_are_refused(world, site):
    site.redirect("/a", "file:///etc/passwd")
    assert "scheme https or http, got the scheme 'file'" in await world.failure(TOOL, url=site.url("/a"))
    site.redirect("/loop", "/loop")
    assert "more than 5 times" in await world.failure(TOOL, url=site.url("/loop"))


async def test_an_enormous_page_is_cut_and_says_so(world, site):
    site.serve("/big", b"x" * 6_000_000, "text/plain")
    text = await world.text(TOOL, url=site.url("/big"), max_chars=1_000)
    assert len(text) < 1_500
    assert "4,999,000 more characters" in text
    assert "only the first 5,000,000 bytes" in text


async def test_a_page_nested_without_end_still_gives_its_text(world, site):
    site.serve("/deep", "<div>" * 20_000 + "bottom")
    assert "bottom" in await world.text(TOOL, url=site.url("/deep"))


async def test_silence_ends_after_a_while(world, site, monkeypatch):
    monkeypatch.setattr("caddie.tools.builtin.web_fetch.TIMEOUT", 0.3)
    assert "within 0.3 seconds" in await world.failure(TOOL, url=site.url("/hang"))


async def test_a_fetch_in_flight_can_be_cancelled(world, site):
    task = asyncio.create_task(world.run(TOOL, url=site.url("/hang")))
    await world.until(lambda: site.requests)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_server_that_is_not_there_is_an_error_in_a_sentence(world, site):
    site.server.server_close()
    assert "could not be fetched" in await world.failure(TOOL, url=site.url())


@pytest.mark.parametrize(
    "host",
    [
        "10.0.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "[::ffff:10.0.0.1]",
        "[fd00::1]",
        "0.0.0.0",
        "127.0.0.2",
        "2130706433",
    ],
)
async def test_private_addresses_are_refused_however_they_are_written(world, host, monkeypatch):
    monkeypatch.setattr("urllib.request.getproxies", dict)
    message = await world.failure(TOOL, url=f"http://{host}/latest/meta-data")
    assert "private network" in message


async def test_a_name_that_leads_inside_is_refused_even_beside_a_public_address(world, resolve_to):
    resolve_to("93.184.215.14", "192.168.0.7")
    assert "private network" in await world.failure(TOOL, url="https://rebind.example.org/")


async def test_the_checked_address_is_the_one_connected_to(resolve_to):
    resolve_to("93.184.215.14")
    route = await checked(parsed("http://Example.org:80/a b?q=ü#part"))
    assert (route.url, route.uses_proxy) == ("https://93.184.215.14/a%20b?q=%C3%BC", False)


async def test_behind_a_proxy_the_proxy_looks_names_up_but_private_literals_are_refused(monkeypatch, world):
    monkeypatch.setattr("urllib.request.getproxies", lambda: {"https": "http://proxy:3128"})
    assert (await checked(parsed("https://example.org/"))).uses_proxy
    assert "private network" in await world.failure(TOOL, url="https://10.0.0.1/")


def test_http_is_upgraded_except_on_this_machine():
    assert parsed("http://example.org").url == "https://example.org/"
    assert parsed("http://example.org:8080/x").url == "https://example.org:8080/x"
    assert parsed("http://localhost:3000/x").url == "http://localhost:3000/x"
    assert parsed("http://[::1]:3000/x").url == "http://[::1]:3000/x"
    assert parsed("https://bücher.example/").host == "xn--bcher-kva.example"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://example.org/", "the scheme 'ftp'"),
        ("example.org", "got none"),
        ("https://", "names no host"),
        ("https://me:secret@example.org/", "user name"),
        ("https://example.org:99999/", "not a valid address"),
        ("https://[::1", "not a valid address"),
        ("javascript:alert(1)", "the scheme 'javascript'"),
    ],
)
async def test_what_is_no_web_address_is_refused(world, url, said):
    assert said in await world.failure(TOOL, url=url)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("::ffff:127.0.0.1", False),
        ("2002:7f00:1::", False),
        ("100.64.0.1", False),
        ("224.0.0.1", False),
        ("fe80::1", False),
    ],
)
def test_public_means_reachable_from_anywhere(address, public):
    assert is_public(ipaddress.ip_address(address)) is public


async def test_the_prompt_shows_the_whole_address(world):
    assert await world.preview(TOOL, url="https://example.org/?q=1") == TextPreview("GET https://example.org/?q=1")


@pytest.mark.parametrize("part", ["<a ", "</a ", "<!--", "<?", "<!"])
def test_a_page_of_tags_that_never_end_is_read_at_once(part: str) -> None:
    started = time.process_time()
    page = as_markdown("text/html", "utf-8", b"<p>Before</p>" + part.encode() * 50_000)
    assert page is not None
    assert page.text.startswith("Before")
    assert time.process_time() - started < 5
