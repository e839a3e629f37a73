"""`caddie serve`: JSON-RPC with an editor."""

from __future__ import annotations

import argparse
import gc
import logging
import sys


def serve(args: argparse.Namespace) -> int:
    gc.disable()  # the imports below make a hundred thousand objects that stay; collecting them again and again costs
    logging.basicConfig(
        stream=sys.stderr, level=args.log_level, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    for name in ("pygls", "httpx", "httpcore", "mcp"):  # they log whole messages
        logging.getLogger(name).setLevel(logging.WARNING)
    from caddie.rpc.app import create_server
    from caddie.rpc.loop import run, serve_stdio, serve_tcp

    gc.freeze()
    gc.enable()
    if args.tcp is not None:
        return run(serve_tcp(create_server, args.tcp))
    return run(serve_stdio(create_server))
