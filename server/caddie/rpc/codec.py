"""How does a JSON value from the client reach a handler, and how does the answer get back?

pygls leaves some input unanswered, structures nested data, keeps finished futures and shows internal errors to the
user. All of that is mended here, once: every request is answered, custom methods see plain JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
import logging
import uuid
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from cattrs import transform_error
from lsprotocol import types
from pydantic import BaseModel, ValidationError
from pygls.exceptions import JsonRpcException, JsonRpcMethodNotFound
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method

from caddie.errors import CLOSING
from caddie.protocol.base import Message
from caddie.rpc import codes
from caddie.rpc.errors import ClientError, invalid_params, problems_of, to_response_error
from caddie.rpc.loop import STOP_SECONDS

if TYPE_CHECKING:
    from caddie.protocol.methods import Method

Id = str | int
Handler = Callable[[Any], Awaitable[Message | None]]

logger = logging.getLogger(__name__)


class Proto(LanguageServerProtocol):
    """The JSON-RPC peer. `receive` takes whatever JSON value came in; `on_exit` is called with the exit code."""

    def __init__(self, server: LanguageServer, converter: Any) -> None:
        super().__init__(server, converter)
        self.on_exit: Callable[[int], None] = lambda code: None
        self.on_relief: list[Callable[[], None]] = []
        self._initialized = False
        self._closed = False
        self._running: set[asyncio.Task[Any]] = set()
        self._answered: set[Id] = set()

    # ---- in

    def receive(self, data: object) -> None:
        """Dispatch one decoded message. Never raises, whatever it holds."""
        if isinstance(data, list):
            self.refuse(
                None, codes.INVALID_REQUEST, "Invalid request: batches are not part of LSP, send one message each"
            )
        elif not isinstance(data, dict):
            self.refuse(None, codes.INVALID_REQUEST, f"Invalid request: expected an object, got {_kind(data)}")
        elif "method" in data:
            self._receive_call(data)
        elif _is_id(data.get("id")) and ("result" in data or "error" in data):
            self._receive_response(data)
        elif data.get("id") is not None or "error" not in data:  # an error without id answers one of ours: no reply
            self.refuse(_id_of(data), codes.INVALID_REQUEST, "Invalid request: it has no method")

    def receive_answered(self, message: dict[str, Any]) -> None:
        """Take in a request whose answer the client has already (`greeting.py`)."""
        self._answered.add(message["id"])
        self.receive(message)

    def _receive_call(self, data: dict[str, Any]) -> None:
        method, msg_id = data["method"], _id_of(data)
        if trouble := _envelope_trouble(data):
            self.refuse(msg_id, codes.INVALID_REQUEST, f"Invalid request: {trouble}")
        elif msg_id is None:
            self._receive_notification(method, data)
        elif refusal := self._untimely(method, msg_id):
            self.refuse(msg_id, *refusal)
        else:
            self._receive_request(method, msg_id, data)

    def _untimely(self, method: str, msg_id: Id) -> tuple[int, str] | None:
        if self._shutdown:
            return codes.INVALID_REQUEST, "Invalid request: the server was told to shut down"
        if method == types.INITIALIZE and self._initialized:
            return codes.INVALID_REQUEST, "Invalid request: the server is already initialized"
        if method != types.INITIALIZE and not self._initialized:
            return codes.NOT_INITIALIZED, "The server is not initialized: send `initialize` first"
        if msg_id in self._request_futures:
            return codes.INVALID_REQUEST, "Invalid request: a request with this id is still running"
        return None

    def _receive_request(self, method: str, msg_id: Id, data: dict[str, Any]) -> None:
        try:
            self._get_handler(method)
            params = self._params(method, data)
        except JsonRpcMethodNotFound:
            self.refuse(msg_id, codes.METHOD_NOT_FOUND, f"Unknown method: {method[:200]}")
        except JsonRpcException as error:
            self._send_error(msg_id, error.to_response_error())
        else:
            self._initialized = self._initialized or method == types.INITIALIZE
            self._shutdown = self._shutdown or method == types.SHUTDOWN  # from now on: `exit` may be the next message
            contextvars.copy_context().run(self._handle_request, msg_id, method, params)

    def _receive_notification(self, method: str, data: dict[str, Any]) -> None:
        if method != types.EXIT and (self._shutdown or not self._initialized):
            logger.debug("notification %r dropped: it is not its time", method)
            return
        try:
            params = self._params(method, data)
        except JsonRpcException as error:
            logger.warning("notification dropped: %s", error.message)
        else:
            contextvars.copy_context().run(self._handle_notification, method, params)

    def _receive_response(self, data: dict[str, Any]) -> None:
        """Answers that nobody waits for any more are normal: a prompt was withdrawn while the person clicked."""
        msg_id = data["id"]
        future = self._request_futures.get(msg_id) if msg_id in self._result_types else None
        result_type = self._result_types.pop(msg_id, None)
        if future is None or future.done():
            logger.debug("late or unknown answer dropped")
            return
        del self._request_futures[msg_id]
        try:
            future.set_result(self._answer(data, result_type))
        except JsonRpcException as error:
            future.set_exception(error)

    def _answer(self, data: dict[str, Any], result_type: Any) -> Any:
        if "error" in data:
            error = data["error"] if isinstance(data["error"], dict) else {}
            code = error.get("code")
            raise JsonRpcException(
                str(error.get("message", ""))[:500], code if isinstance(code, int) else codes.INTERNAL_ERROR
            )
        return data["result"] if result_type is None else self._structure(data, result_type).result

    def _params(self, method: str, data: dict[str, Any]) -> Any:
        message_type = self.get_message_type(method)
        if message_type is None:
            return data.get("params")
        return self._structure({**data, "params": data.get("params")}, message_type).params

    def _structure(self, data: dict[str, Any], kind: Any) -> Any:
        try:
            return self._converter.structure(data, kind)
        except Exception as error:  # the boundary to strangers' JSON: cattrs raises whatever a field's hook raises
            lines = [line.partition(" @ $") for line in transform_error(error)]
            problems = [{"path": path.lstrip("."), "message": message[:200]} for message, _, path in lines]
            raise invalid_params(str(data.get("method", "an answer"))[:200], problems) from None

    # ---- run

    def _execute_handler(self, msg_id: Any, handler: Any, callback: Any, args: Any = None, kwargs: Any = None) -> None:
        def done(future: Future[Any]) -> None:  # pygls keeps the futures of notifications for ever
            self._request_futures.pop(msg_id, None)
            with contextlib.suppress(asyncio.CancelledError):  # pygls's chains of handlers ask for the result unasked
                callback(future)

        super()._execute_handler(msg_id, handler, done, args, kwargs)
        task = self._request_futures.get(msg_id)
        if isinstance(task, asyncio.Task):
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    def _handle_cancel_notification(self, msg_id: Any) -> None:
        if not _is_id(msg_id) or msg_id in self._result_types:  # the latter are ours: only we withdraw them
            return
        if (future := self._request_futures.pop(msg_id, None)) is not None:
            future.cancel()

    def _send_handler_result(self, future: Future[Any], *, msg_id: Any) -> None:
        if future.cancelled():
            self.refuse(msg_id, codes.CANCELLED, "Cancelled")
        elif (error := future.exception()) is not None:
            self._send_error(msg_id, to_response_error(error))
        else:
            self._send_response(msg_id, result=future.result())

    def _check_handler_result(self, future: Future[Any]) -> None:
        if not future.cancelled() and (error := future.exception()) is not None:
            logger.warning("a notification was not handled: %s", to_response_error(error).message)

    @lsp_method(types.SHUTDOWN)
    async def lsp_shutdown(self, *_: Any) -> None:  # type: ignore[override]
        await self.cancel_running()
        if (handler := self.fm.features.get(types.SHUTDOWN)) is not None:
            await handler(None)

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: Any) -> None:  # type: ignore[override]
        self.on_exit(0 if self._shutdown else 1)

    async def cancel_running(self) -> None:
        """Cancel every handler but the one that asks for it, and give each time for its `finally`."""
        others = {task for task in self._running if task is not asyncio.current_task()}
        for task in others:
            if not task.cancelling():  # a second time would cut its `finally` short
                task.cancel(CLOSING)
        if others:
            await asyncio.wait(others, timeout=STOP_SECONDS)

    def close(self) -> None:
        """The client is gone: whoever waits for an answer of it is told."""
        self._closed = True
        for msg_id in list(self._result_types):
            self.forget(msg_id, ConnectionError("the client is gone"))

    # ---- out

    def notify(self, method: str, params: Any = None) -> None:
        self._send_data(_call(method, params))

    def send_request(self, method: str, params: Any = None, callback: Any = None, msg_id: Any = None) -> Future[Any]:
        msg_id = msg_id or str(uuid.uuid4())
        future: Future[Any] = Future()
        if callback is not None:
            future.add_done_callback(lambda done: callback(done.result()))
        self._request_futures[msg_id] = future
        self._result_types[msg_id] = self.get_result_type(method)
        try:
            if self._closed:
                raise ConnectionError("the client is gone")
            self._send_data({**_call(method, params), "id": msg_id})
        except (ConnectionError, TypeError, ValueError, RecursionError) as error:
            self.forget(msg_id, error)
        return future

    def forget(self, msg_id: Id, error: Exception | None = None) -> None:
        """Stop waiting for the answer to a request of ours."""
        self._result_types.pop(msg_id, None)
        future = self._request_futures.pop(msg_id, None)
        if error is not None and future is not None and not future.done():
            future.set_exception(error)

    def refuse(self, msg_id: Id | None, code: int, message: str) -> None:
        self._send_error(msg_id, types.ResponseError(code=code, message=message))

    def _send_response(self, msg_id: Any, result: Any = None, error: types.ResponseError | None = None) -> None:
        if error is not None:
            self._send_error(msg_id, error)
            return
        if msg_id in self._answered:
            self._answered.discard(msg_id)
            return
        try:
            self._send_data({"jsonrpc": self.VERSION, "id": msg_id, "result": result})
        except (TypeError, ValueError, RecursionError) as fault:  # not JSON: the client must hear something
            self._send_error(msg_id, to_response_error(fault))

    def _send_error(self, msg_id: Id | None, error: types.ResponseError) -> None:
        body = {"code": error.code, "message": error.message, "data": error.data}
        self._send_data({"jsonrpc": self.VERSION, "id": msg_id, "error": _without_none(body)})

    def _send_data(self, data: Any) -> None:
        body = json.dumps(data, default=self._serialize_message, allow_nan=False, separators=(",", ":")).encode()
        if self.writer is not None:
            self.writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def _serialize_message(self, data: Any) -> Any:
        if isinstance(data, BaseModel):
            return data.model_dump(mode="json", by_alias=True, exclude_none=True)
        if hasattr(data, "__attrs_attrs__"):
            return self._converter.unstructure(data)
        raise TypeError(f"a {type(data).__name__} is not JSON")

    @property
    def congested(self) -> bool:
        """Whether the client reads more slowly than we write."""
        return bool(getattr(self.writer, "congested", False))

    def relieved(self) -> None:
        for callback in self.on_relief:
            callback()


class Server(LanguageServer):
    """A pygls server whose errors go to the log; `on_close` runs once, when the connection has ended."""

    protocol: Proto
    on_close: Callable[[], Awaitable[None]] | None = None

    def report_server_error(self, error: Exception, source: Any) -> None:
        logger.error("%s: %s", getattr(source, "__name__", source), type(error).__name__)


def create_base_server(name: str, version: str) -> Server:
    return Server(name, version, protocol_cls=Proto, converter_factory=default_converter)


def bind(server: LanguageServer, method: Method, handler: Handler) -> None:
    """Serve `method`: the handler gets the validated message; what it returns or raises becomes the answer."""

    async def run(params: dict[str, Any] | None) -> dict[str, Any] | None:
        answer = await handler(_validated(method, params))
        if method.result is None:
            return None
        return {} if answer is None else answer.wire()

    server.feature(method.name)(run)


async def ask(protocol: Proto, method: str, params: Any, timeout: float | None, *, msg_id: str = "") -> Any:
    """The client's answer. When time or interest runs out, the request is withdrawn and nothing stays behind."""
    msg_id = msg_id or str(uuid.uuid4())
    try:
        async with asyncio.timeout(timeout):
            return await protocol.send_request_async(method, params, msg_id=msg_id)
    except JsonRpcException as error:
        raise ClientError(error.code, error.message) from None
    except (asyncio.CancelledError, TimeoutError):
        protocol.forget(msg_id)
        protocol.notify(types.CANCEL_REQUEST, {"id": msg_id})
        raise


def _validated(method: Method, params: Any) -> Message:
    if params is None or params == [None]:  # how JSON-RPC libraries send "no argument"
        params = {}
    try:
        return method.params.model_validate(params)
    except ValidationError as error:
        raise invalid_params(method.name, problems_of(error)) from None


def _envelope_trouble(data: dict[str, Any]) -> str:
    if data.get("jsonrpc") != "2.0":
        return '`jsonrpc` must be "2.0"'
    if not isinstance(data["method"], str):
        return f"`method` must be text, got {_kind(data['method'])}"
    if "id" in data and not _is_id(data["id"]):
        return f"`id` must be text or an integer, got {_kind(data['id'])}"
    if not isinstance(data.get("params"), dict | list | None):
        return f"`params` must be an object or a list, got {_kind(data['params'])}"
    return ""


def _call(method: str, params: Any) -> dict[str, Any]:
    return _without_none({"jsonrpc": "2.0", "method": method, "params": params})


def _without_none(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value is not None}


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _id_of(data: dict[str, Any]) -> Id | None:
    value = data.get("id")
    return value if _is_id(value) else None


def _kind(value: object) -> str:
    names = {"NoneType": "null", "str": "text", "dict": "an object", "list": "a list", "bool": "a boolean"}
    return names.get(type(value).__name__, "a number")
