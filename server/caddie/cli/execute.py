"""`caddie exec`: run one tool, with the same look-up, validation and permissions as for a model."""

from __future__ import annotations

import argparse
import json

from caddie.cli.ask import REFUSED, rules_of
from caddie.cli.opening import opened, put, run, say
from caddie.rpc import convert
from caddie.tools.call import CallUpdate

TOOL_FAILED = 7
_EXAMPLE = """'{"path": "README.md"}'"""


def execute(args: argparse.Namespace) -> int:
    return run(lambda: _execute(args))


async def _execute(args: argparse.Namespace) -> int:
    try:
        params = json.loads(args.params)
    except (ValueError, RecursionError) as error:
        say(f"caddie: the arguments are not valid JSON ({error}); give one object, such as {_EXAMPLE}")
        return 2
    statuses: list[str] = []

    def note(update: CallUpdate) -> None:
        statuses.append(update.status)

    async with opened(args.workspace, trust=args.trust, wait=args.wait, session=rules_of(args)) as engine:
        result = await engine.execute(args.tool, params, note)
    if args.json:
        put(json.dumps(convert.result(result).wire(), indent=2))
    elif result.is_error:
        say(f"caddie: {result.text}")
    else:
        put(result.text)
    return 0 if not result.is_error else REFUSED if "refused" in statuses else TOOL_FAILED
