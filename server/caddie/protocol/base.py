"""The base of every wire message: camelCase on the wire, snake_case in Python; unknown fields are refused."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Message(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        extra="forbid",
        frozen=True,
        defer_build=True,
    )

    def wire(self) -> dict[str, Any]:
        """The JSON object as it is sent; absent optional fields are left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class Empty(Message):
    """No parameters, or nothing to say in return."""
