"""What files were is kept within a bound, and what is damaged or gone is said rather than guessed."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from caddie.storage.checkpoints import CheckpointStore, FileChange, Kept, Uncovered, Undone
from caddie.storage.checkpoints_content import Contents
from engine_kit import places

BEFORE, AFTER = Kept("b" * 40, 0o100644), Kept("a" * 40, 0o100644)


@pytest.fixture
def store(tmp_path: Path) -> CheckpointStore:
    return CheckpointStore(places(tmp_path, tmp_path / "workspace"))


def changed(turn: str, path: str = "/w/a") -> FileChange:
    return FileChange(turn, path, BEFORE, AFTER)


def files_of(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_contents_come_back_as_they_were_and_equal_ones_are_kept_once(tmp_path: Path) -> None:
    contents = Contents(tmp_path)
    texts = [b"", b"one", bytes(range(256)) * 100, b"one"]
    digests = [contents.put(data) for data in texts]
    assert [contents.get(digest) for digest in digests] == texts
    assert len(files_of(tmp_path)) == 3


def test_contents_are_for_their_person_only(tmp_path: Path) -> None:
    Contents(tmp_path / "c").put(b"secret")
    assert all(path.stat().st_mode & 0o077 == 0 for path in files_of(tmp_path))


def test_a_damaged_content_is_missing_rather_than_wrong(tmp_path: Path) -> None:
    contents = Contents(tmp_path)
    first, second = contents.put(b"one" * 100), contents.put(b"two" * 100)
    ones, twos = (tmp_path / digest[:2] / digest[2:] for digest in (first, second))
    ones.write_bytes(twos.read_bytes())
    twos.write_bytes(b"rubbish")
    assert contents.get(first) is None
    assert contents.get(second) is None
    assert contents.get("0" * 40) is None


def test_the_bound_holds_and_what_was_used_last_stays(tmp_path: Path) -> None:
    contents = Contents(tmp_path)
    digests = [contents.put(random.Random(number).randbytes(10_000)) for number in range(20)]
    for age, digest in enumerate(digests):
        os.utime(tmp_path / digest[:2] / digest[2:], (1_000_000 + age, 1_000_000 + age))
    contents.put(random.Random(0).randbytes(10_000))  # the oldest is needed again
    contents.trim(100_000)
    assert sum(path.stat().st_size for path in files_of(tmp_path)) <= 100_000
    assert contents.get(digests[0]) is not None
    assert contents.get(digests[1]) is None
    assert contents.get(digests[-1]) is not None


def test_a_pack_is_one_file_that_other_processes_can_read_and_damage_is_missing(tmp_path: Path) -> None:
    contents, other = Contents(tmp_path), Contents(tmp_path)
    assert other.get("0" * 40) is None
    with contents.packed():
        digests = [contents.put(f"text {number}".encode()) for number in range(1_000)]
        assert contents.put(b"text 7") == digests[7]
    assert len(files_of(tmp_path)) == 2
    assert [other.get(digest) for digest in digests] == [f"text {number}".encode() for number in range(1_000)]
    with other.packed():
        assert [other.put(f"text {number}".encode()) for number in range(1_000)] == digests
    assert len(files_of(tmp_path)) == 2, "nothing is kept twice"
    [pack] = tmp_path.rglob("*.pack")
    pack.write_bytes(pack.read_bytes()[:100])
    assert contents.get(digests[0]) == b"text 0"
    assert contents.get(digests[-1]) is None
    pack.with_suffix(".json").write_text('{"contents": [')
    assert Contents(tmp_path).get(digests[0]) is None


def test_a_pack_goes_whole_when_it_was_not_needed_for_longest_and_is_packed_anew_when_needed_again(
    tmp_path: Path,
) -> None:
    contents = Contents(tmp_path)
    noise = [random.Random(number).randbytes(10_000) for number in range(20)]
    with contents.packed():
        old = [contents.put(data) for data in noise[:10]]
    with contents.packed():
        new = [contents.put(data) for data in noise[10:]]
    for pack in tmp_path.rglob("*.pack"):
        os.utime(pack, (1_000_000, 1_000_000))
    with contents.packed():
        contents.put(noise[10])  # needed again
    contents.trim(150_000)
    assert [contents.get(digest) for digest in new] == noise[10:]
    assert [contents.get(digest) for digest in old] == [None] * 10
    assert len(files_of(tmp_path)) == 2
    with contents.packed():
        contents.put(noise[0])
    assert contents.get(old[0]) == noise[0]


def test_a_content_whose_pack_another_process_removed_is_kept_anew(tmp_path: Path) -> None:
    one, other = Contents(tmp_path), Contents(tmp_path)
    data = os.urandom(1_000)
    for _ in range(2):
        with one.packed():
            one.put(data)
    other.trim(0)
    assert one.get(one.put(data)) == data


def test_a_pack_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    contents = Contents(tmp_path)

    def fail() -> None:
        with contents.packed():
            contents.put(b"text")
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        fail()
    assert files_of(tmp_path) == []
    assert contents.get(contents.put(b"text")) == b"text"


def test_a_journal_gives_back_what_was_written_paths_of_any_bytes_included(store: CheckpointStore) -> None:
    odd = os.fsdecode(b"/w/\xff\xc3\xa4 '\"\n")
    entries = [changed("t1", odd), FileChange("t1", "/w/b", None, AFTER), Uncovered("t1", "/w/c", "too big")]
    store.append("session-1", entries[:1])
    store.append("session-1", entries[1:])
    journal = store.read("session-1")
    assert list(journal.entries) == entries
    assert store.read("session-2").entries == ()


def test_a_damaged_line_costs_only_itself(store: CheckpointStore, tmp_path: Path) -> None:
    store.append("session-1", [changed("t1")])
    [path] = [path for path in files_of(tmp_path) if path.suffix == ".jsonl"]
    with path.open("ab") as file:
        file.write(b'{"type": "change", "checkpoint": "t1", "pa')
    store.append("session-1", [changed("t2")])
    with path.open("ab") as file:
        file.write(b'\xff\x00\n[1]\n{"type": "of-a-newer-version"}\n')
    assert [entry.checkpoint for entry in store.read("session-1").entries] == ["t1", "t2"]


def test_the_newest_turn_in_force_is_found_across_undos_of_undos(store: CheckpointStore) -> None:
    steps = [
        ([changed("t1")], "t1"),
        ([changed("t2")], "t2"),
        ([changed("u1"), Undone("u1", "t2")], "t1"),
        ([changed("u2"), Undone("u2", "u1")], "t2"),  # it is in force again
        ([changed("u3"), Undone("u3", "t2")], "t1"),
        ([changed("u4"), Undone("u4", "t1")], ""),
        ([changed("t3")], "t3"),
    ]
    for entries, newest in steps:
        store.append("session-1", entries)
        assert store.read("session-1").newest() == newest


def test_a_forgotten_session_leaves_no_journal_and_old_ones_go(store: CheckpointStore, tmp_path: Path) -> None:
    for session in ("session-1", "session-2", "session-3"):
        store.append(session, [changed("t1")])
    store.forget("session-1")
    store.forget("session-1")
    old = next(path for path in files_of(tmp_path) if path.name == "session-2.jsonl")
    os.utime(old, (1_000_000, 1_000_000))
    store.trim(1_000_000)
    assert [path.name for path in files_of(tmp_path)] == ["session-3.jsonl"]
