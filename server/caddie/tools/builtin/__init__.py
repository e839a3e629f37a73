"""The tools that Caddie brings along, in the order in which a request lists them."""

from __future__ import annotations

from caddie.tools.builtin import (
    agent,
    ask_user_question,
    bash,
    config,
    ctx_inspect,
    edit,
    enter_plan_mode,
    exit_plan_mode,
    glob,
    grep,
    list_mcp_resources,
    notebook_edit,
    read,
    read_mcp_resource,
    sleep,
    todo_write,
    web_fetch,
    write,
)
from caddie.tools.tool import Tool

BUILTIN: tuple[Tool, ...] = (
    bash.TOOL,
    read.TOOL,
    edit.TOOL,
    write.TOOL,
    notebook_edit.TOOL,
    glob.TOOL,
    grep.TOOL,
    agent.TOOL,
    ask_user_question.TOOL,
    todo_write.TOOL,
    web_fetch.TOOL,
    sleep.TOOL,
    enter_plan_mode.TOOL,
    exit_plan_mode.TOOL,
    config.TOOL,
    list_mcp_resources.TOOL,
    read_mcp_resource.TOOL,
    ctx_inspect.TOOL,
)
