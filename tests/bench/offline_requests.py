"""How often is the offline provider right, and how long does it think? This prints both.

Searching is not counted: only the plan of the first step, as the median and the slowest of many.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from statistics import median, quantiles

sys.path[:0] = [str(Path(__file__).parents[1] / "unit" / "providers" / "offline")]

from test_providers_offline_requests import REQUESTS, SYSTEM, Search, core_tools, opening, problem  # noqa: E402

from caddie.chat.messages import ModelRequest  # noqa: E402
from caddie.providers.planning.plan import plan  # noqa: E402

ROUNDS = 5


def times(search: Search) -> list[float]:
    taken = []
    tools = core_tools()
    for row in REQUESTS * ROUNDS:
        request = ModelRequest("", SYSTEM, tools, tuple(opening(row["say"], search)), "bench")
        begun = time.thread_time()
        plan(request)
        taken.append((time.thread_time() - begun) * 1000)
    return taken


async def main() -> None:
    search = Search()
    wrong = [text for row in REQUESTS if (text := await problem(row, search))]
    taken = times(search)
    print(f"{len(REQUESTS) - len(wrong)} of {len(REQUESTS)} plain requests end as they should")
    print("\n".join(wrong))
    print(f"a plan takes {median(taken):.2f} ms (median), {quantiles(taken, n=100)[98]:.2f} ms (99 of 100), "
          f"{max(taken):.2f} ms (slowest), of one processor")  # fmt: skip


if __name__ == "__main__":
    asyncio.run(main())
