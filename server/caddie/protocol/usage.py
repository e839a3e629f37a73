"""What the tools cost and what deferring them saves. All numbers are per request, as the prompt stands now."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from caddie.protocol.base import Message
from caddie.protocol.tools import State, StateChange


class UsageParams(Message):
    session_id: str | None = Field(None, description="Absent: what a new session would send.")


class UsageRow(Message):
    tool: str
    label: str
    server: str | None = None
    state: State
    tokens: int = Field(description="Estimate for the whole definition.")
    in_prompt: int = Field(description="Estimate for what the model is given of it now.")
    saved: int = Field(description="Tokens that giving the name only saves.")
    bytes_sent: int = Field(description="Bytes of the definition in the request's tools.")
    calls: int = Field(description="Calls in this session.")


class UsageGroup(Message):
    """Sums of the rows of one server; the built-in tools have no `server`."""

    server: str | None = None
    tools: int
    tokens: int
    in_prompt: int
    saved: int
    bytes_sent: int


class UsageProposal(Message):
    """A state that would suit better, and the change that accepts it with `caddie/tools/setState`."""

    kind: Literal["enable", "defer"]
    tool: str
    reason: str
    change: StateChange


class UsageRequest(Message):
    """One request to the model in this session, as the provider counted it."""

    model: str
    input: int = Field(description="Tokens of the prompt, the cached ones too.")
    cached: int = Field(description="Tokens that were read from the provider's prompt cache.")
    output: int
    share: float = Field(description="`cached` of `input`, 0 to 1.")
    cause: str | None = Field(None, description="Why less came from the cache than could have; absent: it all did.")
    planned: bool = Field(description="False where neither Caddie nor a pause explains the cause.")


class UsageResult(Message):
    family: str = Field(description="Whose tokens are estimated: anthropic, openai, gemini, ...")
    estimate: str = Field(description="How the tokens were estimated, in a sentence.")
    rows: list[UsageRow]
    groups: list[UsageGroup]
    total: UsageGroup = Field(description="Sums of all rows.")
    searches: int = Field(description="Searches in this session.")
    searching: int = Field(description="Tokens of the searches and their answers that each request carries.")
    bridge: int = Field(description="Tokens of ToolSearch and ExecuteTool themselves.")
    net: int = Field(description="`total.saved` less `searching` and `bridge`.")
    proposals: list[UsageProposal]
    requests: list[UsageRequest] = Field(description="The last 100 requests of this session.")
