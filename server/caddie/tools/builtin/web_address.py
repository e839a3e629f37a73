"""May this address be fetched? Checks the URL, and every IP address behind its name, before anything is sent."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import urllib.request
from dataclasses import dataclass
from urllib.parse import quote, urlsplit, urlunsplit

from caddie.errors import ToolFailure

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_SAFE = "!#$%&'()*+,/:;=?@[]~"

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class Address:
    """`host` is lower case and ASCII; `url` is the whole of it as it is fetched, without a fragment."""

    scheme: str
    host: str
    port: int | None
    path: str

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def is_loopback(self) -> bool:
        """Written as such: the caller asked for this machine."""
        return self.host in _LOOPBACK

    def is_same_place(self, other: Address) -> bool:
        """On this machine each port is a service of its own."""
        return self.host == other.host and (not self.is_loopback or self.port == other.port)


@dataclass(frozen=True, slots=True)
class Route:
    """The URL to connect to, the name in it replaced by the address that was checked."""

    url: str
    uses_proxy: bool


def parsed(url: str) -> Address:
    """Raises: ToolFailure for anything but a plain http or https address."""
    try:
        parts = urlsplit(url.strip())
        port, host = parts.port, (parts.hostname or "").encode("idna").decode("ascii").lower()
    except (ValueError, UnicodeError):
        raise ToolFailure(f"{url!r} is not a valid address. Expected one such as https://example.org/page.") from None
    if parts.scheme not in ("http", "https"):
        given = f"the scheme {parts.scheme!r}" if parts.scheme else "none"
        raise ToolFailure(f"Expected an address with the scheme https or http, got {given} in {url!r}.")
    if not host:
        raise ToolFailure(f"{url!r} names no host. Expected an address such as https://example.org/page.")
    if "@" in parts.netloc:
        raise ToolFailure("Addresses with a user name or password are not fetched. Leave the part before @ out.")
    path = urlunsplit(("", "", quote(parts.path, safe=_SAFE) or "/", quote(parts.query, safe=_SAFE), ""))
    address = Address(parts.scheme, host.rstrip("."), port, path)
    return address if address.is_loopback else _upgraded(address)


def _upgraded(address: Address) -> Address:
    port = None if address.port in (80 if address.scheme == "http" else 443, None) else address.port
    return Address("https", address.host, port, address.path)


async def checked(address: Address) -> Route:
    """Raises: ToolFailure when the name leads into a private network, or nowhere."""
    if _uses_proxy(address):
        if _is_private_literal(address.host):
            raise _private(address)
        return Route(address.url, uses_proxy=True)
    found = await _resolved(address)
    if address.is_loopback:
        if not all(ip.is_loopback for ip in found):
            raise _private(address)
    elif not all(is_public(ip) for ip in found):
        raise _private(address)
    pinned = Address(address.scheme, str(found[0]), address.port, address.path)
    return Route(pinned.url, uses_proxy=False)


def _uses_proxy(address: Address) -> bool:
    proxies = urllib.request.getproxies()
    has_one = address.scheme in proxies or "all" in proxies
    return has_one and not address.is_loopback and not urllib.request.proxy_bypass(address.host)


def _is_private_literal(host: str) -> bool:
    try:
        return not is_public(ipaddress.ip_address(host))
    except ValueError:
        return False


async def _resolved(address: Address) -> list[IpAddress]:
    port = address.port or (443 if address.scheme == "https" else 80)
    try:
        rows = await asyncio.get_running_loop().getaddrinfo(address.host, port, type=socket.SOCK_STREAM)
        # IPv4 first: "localhost" often means ::1 too, where most servers do not listen.
        return sorted((ipaddress.ip_address(row[4][0]) for row in rows), key=lambda ip: ip.version)
    except (OSError, ValueError, UnicodeError):
        raise ToolFailure(f"The host {address.host!r} is not known: its name leads to no address.") from None


def is_public(ip: IpAddress) -> bool:
    """Reachable from anywhere, and not a private address in another address's clothes."""
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if inner is not None:
            return is_public(inner)
    return ip.is_global and not ip.is_multicast


def _private(address: Address) -> ToolFailure:
    return ToolFailure(
        f"{address.host!r} is in a private network or on this machine, which WebFetch does not reach. "
        "For this machine write localhost; for anything else use Bash, which asks the person."
    )
