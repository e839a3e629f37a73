"""`caddie tools`, `search`, `discover`, `explain`: looking without changing anything."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from caddie.cli.opening import opened, put, run, say
from caddie.engine.engine import Engine
from caddie.engine.listed import Listed
from caddie.protocol.base import Message
from caddie.protocol.tools import ToolsListResult
from caddie.rpc import convert
from caddie.search.tool_search import Found, answer

MARKS = {"enabled": "✓", "deferred": "◐", "disabled": "✗"}


def tools(args: argparse.Namespace) -> int:
    if not args.json and _is_terminal():
        from caddie.cli.tools_panel import show_panel  # it brings a user interface, which a table does not need

        return run(lambda: show_panel(args))
    return run(lambda: _tools(args))


def _is_terminal() -> bool:
    """The panel draws on stderr and reads stdin; when any of the three goes elsewhere, the table is wanted."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return all(stream.isatty() for stream in streams) and os.environ.get("TERM", "") not in ("", "dumb")


def search(args: argparse.Namespace) -> int:
    return run(lambda: _search(args, args.query))


def discover(args: argparse.Namespace) -> int:
    return run(lambda: _search(args, f"discover:{args.task}"))


def explain(args: argparse.Namespace) -> int:
    return run(lambda: _explain(args))


async def _tools(args: argparse.Namespace) -> int:
    async with opened(args.workspace, trust=args.trust, wait=args.wait) as engine:
        listed = engine.admin.listing()
        _notices(engine)
        if args.json:
            _json(
                ToolsListResult(
                    revision=engine.catalogue.revision,
                    profile=engine.configuration.settings.tools.profile,
                    tools=[convert.tool(item) for item in listed],
                    servers=[convert.server(status) for status in engine.catalogue.servers],
                    totals=convert.totals(listed),
                )
            )
        else:
            put("\n".join(_table(engine, listed)))
    return 0


def _table(engine: Engine, listed: Iterable[Listed]) -> Iterable[str]:
    items = list(listed)
    for server, group in groupby(items, key=lambda item: item.spec.server):
        status = engine.catalogue.find_server(server)
        yield f"{server or 'Built-in'}{f'  {status.state} · {status.tools} tools' if status else ''}"
        yield from (_row(item) for item in group)
    for status in engine.catalogue.servers:
        if status.state != "ready":
            yield f"{status.name}  {status.state}: {status.reason or 'no reason given'}"
    totals = convert.totals(items)
    yield ""
    yield (
        f"{totals.enabled} ✓ enabled   {totals.deferred} ◐ deferred   {totals.disabled} ✗ disabled   "
        f"about {totals.tokens_in_prompt} of {totals.tokens_total} tokens in the prompt"
    )


def _row(item: Listed) -> str:
    source = item.decision.source
    who = f"{source.scope} {source.setting}" if source.kind == "setting" else ""
    first_line = item.spec.description.strip().splitlines()[0] if item.spec.description.strip() else ""
    return (
        f"  {MARKS[item.decision.state]} {item.spec.label:<28.28} {first_line:<60.60} {item.tokens:>6}  {who}".rstrip()
    )


async def _search(args: argparse.Namespace, query: str) -> int:
    async with opened(args.workspace, trust=args.trust, wait=args.wait) as engine:
        await engine.index.warm()  # both rankers, so that the same question gets the same answer every time
        found = await engine.searcher.search(query, limit=getattr(args, "limit", None))
        if args.json:
            _json(convert.discovered(found) if found.kind == "discover" else convert.search(found))
        elif getattr(args, "explain", False):
            put("\n".join(_ranking(found)))
        else:
            put(answer(found))
    return 0 if found.hits else 1


def _ranking(found: Found) -> Iterable[str]:
    for hit in found.hits:
        yield f"{hit.score:.3f}  {hit.tool.name}   keyword {hit.keyword:.3f} · TF-IDF {hit.tfidf:.3f}"
        yield f"       {'; '.join(hit.reasons)}"
    if not found.hits:
        yield answer(found)


async def _explain(args: argparse.Namespace) -> int:
    async with opened(args.workspace, trust=args.trust, wait=args.wait) as engine:
        await engine.deferrals.look()
        explanation = engine.admin.explain(args.tool)
        if args.json:
            _json(convert.explanation(explanation))
        else:
            put("\n".join(explanation.sentences))
    return 0 if explanation.listed else 1


def _notices(engine: Engine) -> None:
    for notice in engine.configuration.notices():
        say(f"caddie: {notice}")


def _json(message: Message) -> None:
    tree: dict[str, Any] = message.wire()
    put(json.dumps(tree, indent=2))
