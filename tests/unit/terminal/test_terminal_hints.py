from __future__ import annotations

from caddie.protocol.tools import HintInfo, ShowHints
from caddie.terminal.hints import Hints


def hints_for(draft: str, *names: str) -> ShowHints:
    infos = [HintInfo(tool=name, label=name, description="", score=0.5, state="deferred") for name in names]
    return ShowHints(draft_id=draft, hints=infos, source="draft")


def shown(hints: Hints) -> list[str]:
    return [hint.tool for hint in hints.shown]


def test_hints_for_an_earlier_text_are_dropped() -> None:
    hints = Hints()
    old, new = hints.next_draft(), hints.next_draft()
    hints.show(hints_for(old, "late"))
    assert shown(hints) == []
    hints.show(hints_for(new, "a", "b"))
    assert shown(hints) == ["a", "b"]


def test_tab_goes_round_and_shift_tab_goes_back() -> None:
    hints = Hints()
    hints.show(hints_for(hints.next_draft(), "a", "b"))
    seen = []
    for step in (1, 1, 1, -1):
        hints.cycle(step)
        seen.append(hints.selected)
    assert seen == [0, 1, 0, 1]


def test_typing_on_lets_go_of_the_selection() -> None:
    hints = Hints()
    hints.show(hints_for(hints.next_draft(), "a"))
    hints.cycle()
    hints.next_draft()
    hints.pick()
    assert hints.take_picked() == []


def test_a_picked_tool_is_offered_no_more_and_leaves_with_the_message() -> None:
    hints = Hints()
    draft = hints.next_draft()
    hints.show(hints_for(draft, "a", "b"))
    hints.cycle()
    hints.pick()
    hints.show(hints_for(draft, "a", "b"))
    assert shown(hints) == ["b"]
    assert hints.take_picked() == ["a"]
    assert hints.take_picked() == []


def test_dismissed_hints_stay_away_until_the_message_is_sent() -> None:
    hints = Hints()
    hints.dismiss()
    hints.show(hints_for(hints.next_draft(), "a"))
    assert shown(hints) == []
    hints.take_picked()
    hints.show(hints_for(hints.next_draft(), "a"))
    assert shown(hints) == ["a"]


def test_the_room_for_hints_does_not_shrink_while_typing() -> None:
    hints = Hints()
    hints.show(hints_for(hints.next_draft(), "a", "b"))
    hints.show(hints_for(hints.next_draft()))
    assert (shown(hints), hints.rows) == ([], 2)
    hints.take_picked()
    assert hints.rows == 0
