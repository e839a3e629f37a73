"""The usage report, as it travels."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from caddie.chat.session import Requested
from caddie.engine.usage import Row, Usage
from caddie.protocol.tools import StateChange
from caddie.protocol.usage import UsageGroup, UsageProposal, UsageRequest, UsageResult, UsageRow

MAX_REQUESTS = 100


def usage(item: Usage) -> UsageResult:
    return UsageResult(
        family=item.family,
        estimate=f"Tokens are estimated from the length of the text, as {item.family} models count it.",
        rows=[_row(row) for row in item.rows],
        groups=[_group(server, rows) for server, rows in groupby(item.rows, key=lambda row: row.spec.server)],
        total=_group("", item.rows),
        searches=item.searches,
        searching=item.searching,
        bridge=item.bridge,
        net=item.net,
        proposals=[
            UsageProposal(
                kind="enable" if one.state == "enabled" else "defer",
                tool=one.tool,
                reason=one.reason,
                change=StateChange(tool=one.tool, state=one.state),
            )
            for one in item.proposals
        ],
        requests=[_request(one) for one in item.requests[-MAX_REQUESTS:]],
    )


def _request(item: Requested) -> UsageRequest:
    counted = item.usage
    return UsageRequest(
        model=item.model,
        input=counted.input,
        cached=counted.cached,
        output=counted.output,
        share=round(counted.cached / counted.input, 3) if counted.input else 0.0,
        cause=item.cause or None,
        planned=item.planned,
    )


def _row(row: Row) -> UsageRow:
    return UsageRow(
        tool=row.spec.name,
        label=row.spec.label,
        server=row.spec.server or None,
        state=row.state,
        tokens=row.tokens,
        in_prompt=row.in_prompt,
        saved=row.saved,
        bytes_sent=row.bytes_sent,
        calls=row.calls,
    )


def _group(server: str, rows: Iterable[Row]) -> UsageGroup:
    items = list(rows)
    return UsageGroup(
        server=server or None,
        tools=len(items),
        tokens=sum(row.tokens for row in items),
        in_prompt=sum(row.in_prompt for row in items),
        saved=sum(row.saved for row in items),
        bytes_sent=sum(row.bytes_sent for row in items),
    )
