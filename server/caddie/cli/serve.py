"""`caddie serve`: JSON-RPC with an editor."""

from __future__ import annotations

import argparse
import gc
import os
from typing import TYPE_CHECKING

from caddie.cli.logs import write_logs
from caddie.rpc.loop import run, serve_stdio, serve_tcp

if TYPE_CHECKING:
    from caddie.rpc.codec import Server


def serve(args: argparse.Namespace) -> int:
    gc.disable()  # the imports make a hundred thousand objects that stay; going through them again and again costs
    write_logs(args.log_level, os.environ, "%(asctime)s %(levelname)s %(name)s: %(message)s")
    if args.tcp is not None:
        return run(serve_tcp(_make_server, args.tcp))
    return run(serve_stdio(_make_server))


def _make_server() -> Server:
    from caddie.rpc.app import create_server  # imports pygls; the client has its answer to `initialize` by now

    server = create_server()
    gc.freeze()
    gc.enable()
    return server
