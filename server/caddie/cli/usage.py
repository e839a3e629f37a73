"""`caddie usage`: what the tools cost, what deferring saves, and what would suit better."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable

from caddie.cli.opening import opened, put, run
from caddie.protocol.usage import UsageGroup, UsageResult
from caddie.rpc.convert_usage import usage as converted

_MARKS = {"enabled": "✓", "deferred": "◐", "disabled": "✗"}
_MAX_ROWS = 20


def usage(args: argparse.Namespace) -> int:
    return run(lambda: _usage(args))


async def _usage(args: argparse.Namespace) -> int:
    async with opened(args.workspace, trust=args.trust, wait=args.wait) as engine:
        result = converted(await engine.usage())
    put(json.dumps(result.wire(), indent=2, ensure_ascii=False) if args.json else "\n".join(_lines(result)))
    return 0


def _lines(result: UsageResult) -> Iterable[str]:
    yield f"{'':32} {'tools':>6} {'tokens':>8} {'in prompt':>10} {'saved':>8}"
    yield from (_sums(group.server or "Built-in", group) for group in result.groups)
    yield _sums("Total", result.total)
    yield ""
    costly = sorted(result.rows, key=lambda row: (-row.in_prompt, row.tool))[:_MAX_ROWS]
    yield "Most in the prompt:"
    yield from (f"  {_MARKS[row.state]} {row.label:<28.28} {row.in_prompt:>8,}" for row in costly if row.in_prompt)
    yield ""
    yield f"ToolSearch and ExecuteTool cost {result.bridge:,} tokens; {result.net:,} are saved in each request."
    yield result.estimate
    for proposal in result.proposals:
        yield f"Proposal: {proposal.kind} {proposal.tool} ({proposal.reason})"


def _sums(name: str, group: UsageGroup) -> str:
    return f"{name:32.32} {group.tools:>6} {group.tokens:>8,} {group.in_prompt:>10,} {group.saved:>8,}"
