"""What does a server reached over HTTP get that wants to know who asks? The SDK's OAuth, with tokens that are kept.

A connection only uses and renews the tokens of an earlier sign-in. Signing in is an act of its own, which the person
begins: no connection ever opens a browser.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import ValidationError

from caddie.errors import ServerFailed
from caddie.mcp import reasons
from caddie.mcp.loopback import Loopback
from caddie.mcp.remote import identity_of
from caddie.mcp.sdk import load_sdk
from caddie.settings import McpOAuth, McpServer

if TYPE_CHECKING:
    import httpx2
    from mcp.client.auth import OAuthClientProvider
    from mcp.client.auth.oauth2 import OAuthContext
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthToken

logger = logging.getLogger(__name__)

SIGN_IN_SECONDS = 300.0
_PROTOCOL = "2025-11-25"
_UNAUTHORIZED = 401
_LONG_AGO = 1.0  # has the SDK renew them first; 0 would mean "never ends" to it
_NO_REDIRECT = "http://127.0.0.1/callback"

# The SDK logs what authorization servers answer, with tracebacks; what goes wrong is told by our own errors.
logging.getLogger("mcp.client.auth").setLevel(logging.CRITICAL)


class TokenVault(Protocol):
    """Keeps what belongs to a server, by its identity. Blocking: called in threads."""

    def read(self, key: str) -> Mapping[str, Any]: ...

    def write(self, key: str, entry: Mapping[str, Any] | None) -> None: ...


class SignInNeeded(Exception):
    """A connection found its tokens of no use."""


def wants_oauth(server: McpServer) -> bool:
    """Whether tokens may be got for it; a configured Authorization goes first."""
    return bool(server.url) and not any(name.lower() == "authorization" for name in server.headers)


class _Kept:
    """The SDK's token storage. Beside the tokens it keeps what renewing them needs after a restart: where and until
    when."""

    def __init__(self, vault: TokenVault, key: str, *, registered: McpOAuth, is_new: bool = False) -> None:
        """`is_new`: tokens that cannot be kept are an error. Renewed ones still serve the connection that got them."""
        self._vault = vault
        self._registered = registered
        self._key = key
        self._is_new = is_new
        self.context: OAuthContext | None = None
        self.entry: Mapping[str, Any] = {}

    async def load(self) -> bool:
        self.entry = await asyncio.to_thread(self._vault.read, self._key)
        return bool(self.entry.get("tokens"))

    async def get_tokens(self) -> OAuthToken | None:
        from mcp.shared.auth import OAuthMetadata, OAuthToken, ProtectedResourceMetadata  # the SDK is slow to import

        if self.context is None:
            return None
        try:
            tokens = OAuthToken.model_validate(self.entry["tokens"])
            expires = self.entry.get("expiresAt")
            if self.entry.get("metadata"):
                self.context.oauth_metadata = OAuthMetadata.model_validate(self.entry["metadata"])
            if self.entry.get("resource"):
                self.context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(
                    self.entry["resource"]
                )
        except (KeyError, ValidationError):
            return None
        self.context.token_expiry_time = float(expires) if isinstance(expires, int | float) else None
        return tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        context = self.context
        assert context is not None
        self.entry = {
            "tokens": _plain(tokens),
            "expiresAt": context.token_expiry_time,
            "client": None if self._registered.client_id else _plain(context.client_info),
            "metadata": _plain(context.oauth_metadata),
            "resource": _plain(context.protected_resource_metadata),
        }
        problem = await asyncio.to_thread(_write, self._vault, self._key, self.entry)
        if problem and self._is_new:
            raise OSError(problem)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        from mcp.shared.auth import OAuthClientInformationFull  # the SDK is slow to import

        if self._registered.client_id:
            return _by_hand(self._registered)
        try:
            return OAuthClientInformationFull.model_validate(self.entry["client"])
        except (KeyError, ValidationError):
            return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Kept with the tokens that it gets."""


def _by_hand(registered: McpOAuth) -> OAuthClientInformationFull:
    from mcp.shared.auth import OAuthClientInformationFull  # the SDK is slow to import

    return OAuthClientInformationFull(
        client_id=registered.client_id,
        client_secret=registered.client_secret or None,
        redirect_uris=None,
        token_endpoint_auth_method="client_secret_post" if registered.client_secret else "none",
    )


def _write(vault: TokenVault, key: str, entry: Mapping[str, Any]) -> str:
    """What went wrong, if anything."""
    try:
        vault.write(key, entry)
    except OSError as error:
        logger.warning("cannot keep the tokens of an MCP server: %s", error.strerror)
        return error.strerror or type(error).__name__
    return ""


def _plain(model: Any) -> Any:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True) if model is not None else None


class Tokens:
    """The tokens of one connection."""

    def __init__(self, server: McpServer, vault: TokenVault | None) -> None:
        self._server = server
        self._key = identity_of(server)
        self._vault = vault if wants_oauth(server) else None
        self._kept: _Kept | None = None
        self.is_lapsed = False

    @property
    def are_used(self) -> bool:
        return self._kept is not None and not self.is_lapsed

    async def auth(self) -> httpx2.Auth | None:
        """None when nobody has signed in to this server."""
        if self._vault is None:
            return None
        kept = _Kept(self._vault, self._key, registered=self._server.oauth)
        if not await kept.load():
            return None
        self._kept = kept
        return _provider(self._server.url, kept, _NO_REDIRECT, self._lapse, _no_answer)

    async def _lapse(self, url: str) -> None:
        self.is_lapsed = True
        raise SignInNeeded

    async def may_help_again(self) -> bool:
        """Whether another try has a chance: with tokens that another process renewed, or by renewing these."""
        if self._vault is None or self._kept is None:
            return False
        now = await asyncio.to_thread(self._vault.read, self._key)
        if now != self._kept.entry and now.get("tokens"):
            return True
        tokens = now.get("tokens")
        if not isinstance(tokens, dict) or not tokens.get("refresh_token") or now.get("expiresAt") == _LONG_AGO:
            return False
        return not await asyncio.to_thread(_write, self._vault, self._key, {**now, "expiresAt": _LONG_AGO})


async def _no_answer() -> AuthorizationCodeResult:
    raise SignInNeeded


def _provider(
    url: str,
    kept: _Kept,
    redirect: str,
    show: Callable[[str], Awaitable[None]],
    wait: Callable[[], Awaitable[AuthorizationCodeResult]],
) -> OAuthClientProvider:
    from mcp.client.auth import OAuthClientProvider  # the SDK is slow to import
    from mcp.shared.auth import OAuthClientMetadata

    metadata = OAuthClientMetadata.model_validate({"client_name": "Caddie", "redirect_uris": [redirect]})
    provider = OAuthClientProvider(url, metadata, kept, show, wait)
    kept.context = provider.context
    return provider


class SignIn:
    """One attempt: `url` is where the person signs in, `done` ends when they have.

    Both raise ServerFailed with the reason why it came to nothing.
    """

    def __init__(self, name: str, server: McpServer, vault: TokenVault) -> None:
        self._name = name
        self._server = server
        self._vault = vault
        self._secrets = list(reasons.secrets_of(server))
        self.url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.done = asyncio.create_task(self._run(), name=f"mcp sign-in {name}")
        self.done.add_done_callback(self._over)

    def cancel(self) -> None:
        self.done.cancel()

    def _over(self, task: asyncio.Task[None]) -> None:
        if self.url.done():
            return
        if task.cancelled():
            self.url.cancel()
        else:
            self.url.set_exception(task.exception() or ServerFailed("it asked for no sign-in"))

    async def _run(self) -> None:
        import httpx2  # the MCP SDK, which brings it, is slow to import
        from mcp.client.auth import OAuthFlowError, OAuthRegistrationError

        await load_sdk()
        try:
            async with asyncio.timeout(SIGN_IN_SECONDS):
                await self._sign_in()
        except TimeoutError:
            raise self._failed(f"nobody signed in within {SIGN_IN_SECONDS / 60:g} minutes") from None
        except OAuthRegistrationError:
            place = f"mcp.servers.{self._name}"
            way_out = f"register Caddie there and name it in {place}.oauth, or give an Authorization in {place}.headers"
            raise self._failed(f"it registers no programs by itself; {way_out}") from None
        except OAuthFlowError as error:
            raise self._failed(str(error)) from None
        except ValidationError:
            raise self._failed("its authorization server sent what OAuth does not have") from None
        except OSError as error:
            raise self._failed(f"what it gave cannot be kept in the data folder ({error})") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._failed(f"it cannot be reached ({error or type(error).__name__})") from None

    async def _sign_in(self) -> None:
        import httpx2  # the MCP SDK, which brings it, is slow to import

        key = identity_of(self._server)
        kept = _Kept(self._vault, key, registered=self._server.oauth, is_new=True)
        await kept.load()
        fixed = self._server.oauth.callback_port
        async with Loopback(fixed or _port_of(kept.entry)) as loopback:
            if fixed and loopback.port != fixed:
                setting = f"mcp.servers.{self._name}.oauth.callbackPort"
                raise self._failed(f"port {fixed}, which {setting} names, is taken by another program")
            same_address = _port_of(kept.entry) == loopback.port
            # The old tokens are not used; the old registration is, where it names this address.
            kept.entry = {"client": kept.entry.get("client")} if same_address else {}

            async def show(url: str) -> None:
                self._offer(url, loopback)

            async def wait() -> AuthorizationCodeResult:
                return self._read(await loopback.answer())

            auth = _provider(self._server.url, kept, loopback.url, show, wait)
            timeout = httpx2.Timeout(self._server.timeout)
            headers = {**self._server.headers, "Accept": "application/json, text/event-stream"}
            async with httpx2.AsyncClient(auth=auth, headers=headers, timeout=timeout) as client:
                # Any request would do: it is answered with 401, and sent again with the token.
                response = await client.post(
                    self._server.url,
                    json={"jsonrpc": "2.0", "id": 1, "method": "ping"},
                    headers={"MCP-Protocol-Version": _PROTOCOL},
                )
        if response.status_code == _UNAUTHORIZED:
            raise self._failed("it does not take the token that its authorization server gave")
        if not self.url.done():
            raise self._failed(f"it does not ask who calls (HTTP {response.status_code})")

    def _offer(self, url: str, loopback: Loopback) -> None:
        import httpx2  # the MCP SDK, which brings it, is slow to import

        parts = httpx2.URL(url)
        if parts.scheme not in ("https", "http"):
            raise self._failed(f"its sign-in page has an address that is none of the web ({parts.scheme}:)")
        loopback.expect(parts.params.get("state", ""))
        self.url.set_result(url)

    def _read(self, answer: Mapping[str, str]) -> AuthorizationCodeResult:
        from mcp.shared.auth import AuthorizationCodeResult  # the SDK is slow to import

        if error := answer.get("error"):
            said = answer.get("error_description", "")
            raise self._failed(f"it was refused ({error}" + (f": {said}" if said else "") + ")")
        if answer.get("code"):
            self._secrets.append(answer["code"])
        return AuthorizationCodeResult(code=answer.get("code", ""), state=answer.get("state"), iss=answer.get("iss"))

    def _failed(self, why: str) -> ServerFailed:
        return ServerFailed(f"The sign-in to {self._name!r} failed: {reasons.clean(why, self._secrets)}.")


def _port_of(entry: Mapping[str, Any]) -> int:
    """Where the registered client listens."""
    from urllib.parse import urlsplit

    try:
        return urlsplit(entry["client"]["redirect_uris"][0]).port or 0
    except (KeyError, IndexError, TypeError, ValueError):
        return 0
