"""An MCP server that wants a sign-in, and a page on which a person allows or denies it. Ends with its stdin."""

import sys
import threading
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

sys.path.insert(0, str(Path(__file__).parents[4] / "tests"))

from mcp.server.auth.provider import construct_redirect_uri  # noqa: E402
from oauth_server import Grants, oauth_server  # noqa: E402


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        asked = parse_qs(urlsplit(self.path).query)
        choices = "".join(f'<p><a href="{escape(asked[name][0])}">{name}</a></p>' for name in ("Allow", "Deny") if name in asked)
        self.send_response(200)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(f"<!doctype html><title>The safe</title><h1>May Caddie open the safe?</h1>{choices}".encode())

    def log_message(self, *about):
        pass


class Asking(Grants):
    def __init__(self, page):
        super().__init__()
        self.page = page

    async def authorize(self, client, params):
        allowed = await super().authorize(client, params)
        denied = construct_redirect_uri(str(params.redirect_uri), error="access_denied", state=params.state)
        return f"{self.page}/?Allow={quote(allowed, safe='')}&Deny={quote(denied, safe='')}"


pages = ThreadingHTTPServer(("127.0.0.1", 0), Page)
threading.Thread(target=pages.serve_forever, daemon=True).start()
with oauth_server(Asking(f"http://127.0.0.1:{pages.server_port}")) as url:
    print(url, flush=True)
    sys.stdin.read()
