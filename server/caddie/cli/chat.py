"""`caddie chat`: a conversation in the terminal."""

from __future__ import annotations

import argparse
import asyncio


def chat(args: argparse.Namespace) -> int:
    from caddie.terminal.chat import chat as converse

    return asyncio.run(converse(args.workspace.resolve(), session_id=args.resume))
