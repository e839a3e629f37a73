"""The bench on which the servers of these tests run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from mcp_bench import PATIENCE, Bench


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    async with asyncio.timeout(PATIENCE):
        await bench.manager.close()
