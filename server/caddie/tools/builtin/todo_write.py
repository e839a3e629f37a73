"""TodoWrite: the session's list of steps, replaced as a whole."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from caddie.errors import ToolFailure
from caddie.tools.context import TodoItem, ToolContext
from caddie.tools.tool import ToolArgs, ToolResult, builtin, text_result


class WrittenTodo(BaseModel):
    model_config = ConfigDict(extra="forbid")

    content: str = Field(min_length=1, max_length=1_000, description="The step as an order: `Run the tests`.")
    status: Literal["pending", "in_progress", "completed"] = Field(description="At most one is in_progress.")
    active_form: str = Field("", max_length=1_000, description="The step while it is done: `Running the tests`.")


class TodoWriteArgs(ToolArgs):
    todos: list[WrittenTodo] = Field(max_length=200, description="The whole list, in order; it replaces the old one.")


async def todo_write(args: TodoWriteArgs, context: ToolContext) -> ToolResult:
    running = [todo.content for todo in args.todos if todo.status == "in_progress"]
    if len(running) > 1:
        raise ToolFailure(f"At most one step can be in_progress, got {len(running)}: {'; '.join(running)}.")
    context.session.todo = tuple(TodoItem(todo.content, todo.status, todo.active_form) for todo in args.todos)
    return text_result(_summary(context.session.todo))


def _summary(todos: tuple[TodoItem, ...]) -> str:
    done = sum(todo.status == "completed" for todo in todos)
    current = next((todo.content for todo in todos if todo.status == "in_progress"), None)
    now = f" Now: {current}." if current else ""
    return f"{done} of {len(todos)} steps are completed.{now}" if todos else "The list is empty."


TOOL = builtin(
    "TodoWrite",
    "Keeps the list of steps that the person sees beside the conversation. Use it for work of three or more steps: "
    "mark one step in_progress before starting it and completed as soon as it is.",
    TodoWriteArgs,
    todo_write,
    search_hint="todo list, plan steps, track progress of tasks",
    session_only=True,
)
