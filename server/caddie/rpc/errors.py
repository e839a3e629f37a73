"""Which JSON-RPC error does an exception become? The only place that pairs them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from lsprotocol.types import ResponseError
from pydantic_core import to_jsonable_python
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from caddie.errors import CaddieError, InvalidInput
from caddie.rpc.codes import CADDIE_ERROR, INTERNAL_ERROR, INVALID_PARAMS

if TYPE_CHECKING:
    from pydantic import ValidationError

# First that applies; what is in no row is a fault of ours, and its text stays in the log.
_CODES: tuple[tuple[type[CaddieError], int], ...] = ((InvalidInput, INVALID_PARAMS), (CaddieError, CADDIE_ERROR))
_MAX_LISTED = 20

logger = logging.getLogger(__name__)


class ClientError(Exception):
    """The client answered our request with an error. Not a `JsonRpcException`: it must never become our own answer."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def to_response_error(error: BaseException) -> ResponseError:
    if isinstance(error, CaddieError):
        code = next(code for kind, code in _CODES if isinstance(error, kind))
        return ResponseError(code=code, message=error.message, data=_data(error))
    if isinstance(error, JsonRpcException):
        return error.to_response_error()
    logger.error("a handler failed", exc_info=error)
    return ResponseError(code=INTERNAL_ERROR, message="internal error", data={"kind": "internal", "retryable": False})


def invalid_params(method: str, problems: list[dict[str, str]]) -> JsonRpcInvalidParams:
    """`problems` are `{path, message}`; the first one is said in the message."""
    first = ": ".join(filter(None, problems[0].values())) if problems else "not what the method takes"
    return JsonRpcInvalidParams(
        f"Invalid parameters of {method}: {first}",
        data={"kind": InvalidInput.kind, "retryable": False, "errors": problems[:_MAX_LISTED]},
    )


def problems_of(error: ValidationError) -> list[dict[str, str]]:
    """Without the given values: they may be secrets, or very long."""
    details = error.errors(include_url=False, include_input=False, include_context=False)
    return [{"path": ".".join(map(str, detail["loc"])), "message": detail["msg"]} for detail in details]


def _data(error: CaddieError) -> dict[str, Any]:
    given = {key: value for key, value in error.data.items() if value is not None}
    data: dict[str, Any] = to_jsonable_python(given, fallback=str)
    return {**data, "kind": error.kind, "retryable": error.retryable}
