"""What the server asks of the person and the editor, and the permissions given."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from caddie.protocol.base import Message


class DiffPreview(Message):
    kind: Literal["diff"] = "diff"
    path: str
    before: str
    after: str
    unified: str = Field(description="The same as a unified diff, for clients without a diff view.")


class CommandPreview(Message):
    kind: Literal["command"] = "command"
    command: str
    cwd: str
    note: str | None = Field(None, description="How it would run: in a sandbox with which bounds, or without one.")


class TextPreview(Message):
    kind: Literal["text"] = "text"
    text: str


Preview = Annotated[DiffPreview | CommandPreview | TextPreview, Field(discriminator="kind")]


class Choice(Message):
    id: str
    label: str
    kind: Literal["allowOnce", "allowSession", "allowAlways", "allowServerSession", "reject"]


class PermissionAsk(Message):
    request_id: str
    session_id: str
    tool: str = Field(description="Wire name of the real tool.")
    label: str
    server: str | None = None
    params: dict[str, Any] = Field(description="All arguments, as they will be sent.")
    preview: Preview | None = None
    choices: list[Choice]
    reason: str
    definition_changed: str | None = Field(None, description="What changed since an earlier permission.")


class Answer(Message):
    """Base of what a client answers: unknown fields are ignored, so that newer clients work."""

    model_config = ConfigDict(extra="ignore")


class PermissionAnswer(Answer):
    choice: str = Field(description="Id of a choice; anything else than a known allow choice refuses.")
    feedback: str | None = Field(None, description="Told to the model with a refusal.")


class QuestionOption(Message):
    label: str
    description: str | None = None


class Question(Message):
    id: str
    question: str
    header: str | None = None
    options: list[QuestionOption] = Field(description="Empty: free text.")
    multiple: bool = False


class QuestionAsk(Message):
    request_id: str
    session_id: str | None = None
    title: str
    questions: list[Question]


class QuestionAnswer(Answer):
    answers: dict[str, str] | None = Field(None, description="By question id; several options joined by `, `.")
    declined: bool = False


class SettingsWrite(Message):
    """Store this in the editor's own settings; `value` null removes the key."""

    key: str = Field(description="Dotted key without the `caddie.` in front.")
    value: Any
    scope: Literal["user", "workspace"]

    def wire(self) -> dict[str, Any]:
        """Here null is a value: it must travel."""
        return {**super().wire(), "value": self.model_dump(mode="json")["value"]}


class RuleInfo(Message):
    rule: str
    kind: Literal["allow", "ask", "deny"]
    scope: str


class GrantInfo(Message):
    id: str
    tool: str
    server: str | None = None
    scope: Literal["session", "always"]
    pattern: str | None = Field(None, description="For Bash: the command that was allowed.")
    granted: str = Field(description="RFC 3339 time.")


class PermissionsListParams(Message):
    session_id: str | None = None


class PermissionsListResult(Message):
    rules: list[RuleInfo]
    grants: list[GrantInfo]


class RevokeParams(Message):
    id: str
