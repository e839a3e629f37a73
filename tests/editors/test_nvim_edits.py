"""Edits in real Neovim before the real server: one undo step, `:Caddie undo`, and what its linters say of an edit."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from llmock.pytest_plugin import LLMock
from nvim_kit import NVIM, QUIET, SEND, Terminal, init_lua, isolated

from editor_client import clean_environment

TEXT = "".join(f"line {number} \x0c \u2028 𝒳\n" for number in range(1, 8))
LINTER = """
local function lint(dispatchers)
  local function publish(uri, text)
    local found = {}
    for number, line in ipairs(vim.split(text, '\\n')) do
      if line:find('robot') then
        local at = { line = number - 1, character = 0 }
        local range = { start = at, ['end'] = at }
        table.insert(found, { range = range, severity = 1, message = 'no robots here', source = 'lint' })
      end
    end
    vim.defer_fn(function()
      dispatchers.notification('textDocument/publishDiagnostics', { uri = uri, diagnostics = found })
    end, 100)
  end
  return {
    request = function(method, _, callback)
      local capabilities = { textDocumentSync = 1 }
      callback(nil, method == 'initialize' and { capabilities = capabilities } or vim.NIL)
      return true, 1
    end,
    notify = function(method, params)
      if method == 'textDocument/didChange' then
        publish(params.textDocument.uri, params.contentChanges[1].text)
      end
    end,
    is_closing = function() return false end,
    terminate = function() end,
  }
end
vim.api.nvim_create_autocmd('BufReadPost', { callback = function()
  vim.lsp.start({ name = 'lint', cmd = lint })
end })
"""


@pytest.fixture
def neovim(tmp_path: Path, workspace: Path, llmock: LLMock) -> Iterator[Callable[..., Terminal]]:
    started: list[Terminal] = []

    def start(extra: str = "") -> Terminal:
        settings = {
            "provider": "anthropic", "baseUrl": llmock.base_url("anthropic"), "model": "claude-sonnet-5",
            "permissions": {"mode": "acceptEdits"},
        }  # fmt: skip
        (workspace / "notes.txt").write_text(TEXT)
        cmd = [sys.executable, "-m", "caddie", "serve"]
        (tmp_path / "init.lua").write_text(init_lua(cmd, extra, settings=settings))
        argv = [NVIM, *QUIET, "-u", str(tmp_path / "init.lua"), "notes.txt"]
        env = {**clean_environment(tmp_path / "home"), **isolated(tmp_path), "ANTHROPIC_API_KEY": "test-key"}
        one = Terminal(argv, workspace, env, tmp_path / "no-log", (120, 34))
        started.append(one)
        one.wait("line 7")
        return one

    yield start
    for one in started:
        one.close()


def edits(llmock: LLMock, old: str, new: str) -> None:
    llmock.call_tool("Read", {"path": "notes.txt"})
    llmock.call_tool("Edit", {"path": "notes.txt", "old_string": old, "new_string": new})
    llmock.reply("Changed.")


def ask(screen: Terminal) -> Terminal:
    screen.command("Caddie chat")
    screen.wait("Ask, or say")
    screen.type("Change it" + SEND)
    screen.wait("Changed.")
    screen.normal_mode()
    screen.command("wincmd p")
    return screen


def saved(screen: Terminal, workspace: Path) -> str:
    """The buffer's text."""
    screen.command("write! copy.txt")
    return str(screen.until(lambda: (workspace / "copy.txt").exists() and (workspace / "copy.txt").read_text()))


def test_an_edit_is_one_undo_step_of_the_unsaved_buffer_at_the_right_place(
    neovim: Callable[..., Terminal], llmock: LLMock, workspace: Path
) -> None:
    edits(llmock, "line 3 \x0c \u2028 𝒳\nline 4", "robot\nrobot")
    screen = neovim()
    screen.command("2s/𝒳/mine/")
    screen.wait("mine")
    ask(screen)
    mine = TEXT.replace("line 2 \x0c \u2028 𝒳", "line 2 \x0c \u2028 mine")
    assert saved(screen, workspace) == mine.replace("line 3 \x0c \u2028 𝒳\nline 4", "robot\nrobot")
    (workspace / "copy.txt").unlink()
    screen.type("u")
    screen.wait_gone("robot")
    assert saved(screen, workspace) == mine


def test_caddie_undo_takes_the_turn_back_and_redo_the_undo(
    neovim: Callable[..., Terminal], llmock: LLMock, workspace: Path
) -> None:
    edits(llmock, "line 3", "robot")
    screen = neovim()
    ask(screen)
    screen.wait("robot")
    screen.command("6s/line/mine/")
    screen.command("Caddie undo")
    screen.wait_gone("robot")
    screen.wait("Taken back beside other edits, which stay: notes.txt.")
    assert saved(screen, workspace) == TEXT.replace("line 6", "mine 6")
    screen.command("Caddie redo")
    screen.wait(lambda text: "robot" in text and "mine" in text)
    assert (workspace / "notes.txt").read_text() == TEXT


def test_a_folder_added_by_neovims_own_means_is_inside(
    neovim: Callable[..., Terminal], llmock: LLMock, workspace: Path
) -> None:
    api = workspace.parent / "api"
    api.mkdir()
    (api / "a.txt").write_text("one\n")
    llmock.call_tool("Read", {"path": str(api / "a.txt")})
    llmock.call_tool("Edit", {"path": str(api / "a.txt"), "old_string": "one", "new_string": "two"})
    llmock.reply("Changed.")
    screen = neovim()
    screen.command("Caddie chat")
    screen.wait("Ask, or say")
    screen.normal_mode()
    screen.command("wincmd p")
    screen.command("lua vim.wait(60000, function() return #vim.lsp.get_clients({ bufnr = 0 }) > 0 end)")
    screen.command(f"lua vim.lsp.buf.add_workspace_folder('{api}')")
    screen.command("wincmd p")
    screen.type("iChange it" + SEND)
    screen.wait("Changed.")
    assert "asks to run" not in screen.text()
    assert (api / "a.txt").read_text() == "two\n"
    assert f"\\n- {api}\\n" in str(llmock.requests[0].body["system"])


def test_a_buffer_follows_what_a_command_did_to_its_file_and_what_undo_does(
    neovim: Callable[..., Terminal], llmock: LLMock, workspace: Path
) -> None:
    llmock.call_tool("Bash", {"command": "echo robot >>notes.txt"})
    llmock.reply("Changed.")
    screen = neovim()
    screen.command("Caddie chat")
    screen.wait("Ask, or say")
    screen.type("Change it" + SEND)
    screen.wait("asks to run")
    screen.normal_mode()
    screen.type("a")
    screen.wait("Changed.")
    screen.command("wincmd p")
    screen.wait(lambda text: any(line.startswith("robot") for line in text.splitlines()))
    screen.command("Caddie undo")
    screen.wait(lambda text: not any(line.startswith("robot") for line in text.splitlines()))
    assert saved(screen, workspace) == TEXT


def test_what_a_language_server_says_of_the_edit_reaches_the_model(
    neovim: Callable[..., Terminal], llmock: LLMock, workspace: Path
) -> None:
    edits(llmock, "line 3", "robot")
    ask(neovim(LINTER))
    assert "notes.txt:3: error: no robots here (lint)" in str(llmock.last_request.body)


def test_what_turns_changed_is_listed_by_hunk_accepted_and_taken_back(
    neovim: Callable[..., Terminal], llmock: LLMock, workspace: Path
) -> None:
    llmock.call_tool("Read", {"path": "notes.txt"})
    llmock.call_tool("Edit", {"path": "notes.txt", "old_string": "line 2", "new_string": "robot two"})
    llmock.call_tool("Edit", {"path": "notes.txt", "old_string": "line 5", "new_string": "robot five"})
    llmock.call_tool("Write", {"path": "made.txt", "content": "new\n"})
    llmock.reply("Changed.")
    screen = neovim()
    screen.command("Caddie changes")
    screen.wait("Nothing was done in this conversation yet.")
    ask(screen)
    screen.command("Caddie changes")
    screen.wait("made.txt|1| created")
    shown = screen.wait("notes.txt|5| +1 −1")
    assert "robot five" in shown
    assert "line 5" in shown, "the old line stands above the new one"
    screen.wait("Caddie: changes to review")
    screen.command("cc 3")
    screen.command("Caddie takeback")
    screen.wait("Taken back in part: notes.txt (1 of 2 changes, in the editor, not saved yet).")
    screen.wait_gone("robot five")
    screen.command("cc 2")
    screen.command("Caddie keep")
    screen.wait_gone("notes.txt|2|")
    screen.command("Caddie takeback")
    screen.wait("No change to review is under the cursor")
    screen.command("Caddie takeback all")
    screen.wait("Restored: made.txt.")
    screen.wait_gone("made.txt|1|")
    assert not (workspace / "made.txt").exists()
    assert saved(screen, workspace) == TEXT.replace("line 2", "robot two")
    screen.command("Caddie redo")
    screen.wait("Restored: made.txt")
    screen.command("Caddie changes")
    screen.wait("made.txt|1| created")
