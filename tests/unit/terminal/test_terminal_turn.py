from __future__ import annotations

from typing import Any

from caddie.protocol.chat import (
    DoneEvent,
    Event,
    NoticeEvent,
    TextEvent,
    ThinkingEvent,
    Todo,
    TodoEvent,
    ToolCallEvent,
)
from caddie.terminal.turn import Answer, Checklist, Item, Thought, TurnState, apply, blocks


def play(*events: Event) -> tuple[TurnState, list[Item]]:
    state, settled = TurnState(), list[Item]()
    for event in events:
        state, more = apply(state, event)
        settled += more
    return state, settled


def text(words: str) -> TextEvent:
    return TextEvent(text=words)


def call(call_id: str, status: Any, **more: Any) -> ToolCallEvent:
    return ToolCallEvent(call_id=call_id, tool=call_id, label=call_id, status=status, params={}, **more)


def done(stop: Any = "endTurn", words: str = "") -> DoneEvent:
    return DoneEvent(stop_reason=stop, text=words)


def names(items: list[Item] | tuple[Item, ...]) -> list[str]:
    return [item.call_id if isinstance(item, ToolCallEvent) else getattr(item, "text", "") for item in items]


def test_only_the_last_block_of_an_answer_is_live() -> None:
    state, settled = play(text("One.\n\nTw"), text("o.\n\nThr"))
    assert settled == [Answer("One.\n\n"), Answer("Two.\n\n")]
    assert state.live == (Answer("Thr"),)


def test_a_code_block_is_one_block_however_many_empty_lines_it_has() -> None:
    state, settled = play(text("Code:\n\n```python\na = 1\n\n\nb = 2\n"))
    assert settled == [Answer("Code:\n\n")]
    assert state.live == (Answer("```python\na = 1\n\n\nb = 2\n"),)


def test_blocks_lose_no_character() -> None:
    source = "\n\n# Title\ntext\n- one\n\n  more\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote\n\n[ref]: http://x\nend"
    assert "".join(blocks(source)) == source
    assert len(blocks(source)) > 4


def test_calls_settle_in_the_order_they_began() -> None:
    state, settled = play(call("a", "running"), call("b", "running"), call("b", "done"))
    assert settled == []
    assert names(state.live) == ["a", "b"]
    state, settled = apply(state, call("a", "failed"))
    assert names(settled) == ["a", "b"]
    assert state.live == ()


def test_text_before_a_call_is_finished_by_it() -> None:
    state, settled = play(text("Let me look."), call("a", "running"))
    assert settled == [Answer("Let me look.")]
    assert names(state.live) == ["a"]


def test_an_update_of_a_settled_call_is_not_shown_twice() -> None:
    state, settled = play(call("a", "done"), call("a", "done", result="again"))
    assert names(settled) == ["a"]
    assert state.live == ()


def test_discarded_text_disappears_when_it_is_still_live() -> None:
    notice = NoticeEvent(level="warning", message="The connection broke; trying again.", discard_text=True)
    state, settled = play(text("Half an ans"), notice)
    assert settled == [notice]
    assert state.live == ()


def test_discarded_text_that_was_printed_is_called_void() -> None:
    notice = NoticeEvent(level="warning", message="Trying again.", discard_text=True)
    _, settled = play(text("One.\n\nTwo"), notice, text("All of it."), done())
    assert [getattr(item, "message", None) or getattr(item, "text", "") for item in settled] == [
        "One.\n\n",
        "The text above is void: the answer starts again.",
        "Trying again.",
        "All of it.",
    ]


def test_text_before_the_last_call_stays_valid_when_later_text_is_discarded() -> None:
    notice = NoticeEvent(level="warning", message="Trying again.", discard_text=True)
    _, settled = play(text("Before."), call("a", "running"), call("a", "done"), text("After"), notice)
    assert "void" not in str(settled)


def test_thoughts_are_kept_apart_from_the_answer() -> None:
    state, settled = play(ThinkingEvent(text="hm"), ThinkingEvent(text="m"), text("Yes."))
    assert settled == [Thought("hmm")]
    assert state.live == (Answer("Yes."),)


def test_an_unchanged_checklist_is_shown_once() -> None:
    todo = TodoEvent(items=[Todo(content="Find it", status="pending")])
    _, settled = play(todo, todo)
    assert settled == [Checklist(tuple(todo.items))]


def test_the_end_settles_everything_and_shows_text_that_was_never_streamed() -> None:
    state, settled = play(call("a", "done"), done(words="The answer."))
    assert settled[-1] == Answer("The answer.")
    assert state.live == ()
    _, settled = play(text("The answer."), done(words="The answer."))
    assert settled == [Answer("The answer.")]


def test_a_stopped_turn_says_so_and_keeps_what_was_said() -> None:
    _, settled = play(text("Half"), done("cancelled"))
    assert settled == [Answer("Half"), NoticeEvent(level="info", message="Stopped.")]


def test_a_notice_that_only_switches_the_mode_prints_nothing() -> None:
    _, settled = play(NoticeEvent(level="info", message="", mode="plan"))
    assert settled == []
