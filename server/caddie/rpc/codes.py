"""The numbers of JSON-RPC and LSP errors. Imports nothing, so that the first answer needs nothing."""

from __future__ import annotations

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
CANCELLED = -32800
CADDIE_ERROR = -32050
