"""The models that may answer, and the one that does."""

from __future__ import annotations

from pydantic import Field

from caddie.protocol.base import Message


class ModelsListParams(Message):
    session_id: str | None = None


class ModelInfo(Message):
    id: str = Field(description="What the setting `model` takes.")
    label: str = Field("", description="The provider's name for people, where it has one.")
    context: int | None = Field(None, description="Tokens that it reads at most, where the provider tells.")
    output: int | None = Field(None, description="Tokens that it writes at most, where the provider tells.")


class ModelsListResult(Message):
    provider: str = Field(description="The provider in use: never `auto`.")
    model: str = Field(description="The model in use.")
    why: str = Field(description="Why this provider, in a sentence.")
    models: list[ModelInfo] = Field(description="In the provider's order; the one in use is among them.")
    problem: str | None = Field(None, description="Why the provider could not list its models.")
