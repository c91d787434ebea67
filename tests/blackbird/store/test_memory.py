"""The memory: what is put into it is found again, and nothing is written that is there."""

from pathlib import Path

import pytest

from blackbird.artifacts.model import Artifact, Fact, Provenance, Segment, Type, artifact_id
from blackbird.artifacts.note import Note
from blackbird.canon.model import Evidence, Side
from blackbird.errors import MemoryBusy, MemoryDamaged
from blackbird.store import files
from blackbird.store.differing import differences
from blackbird.store.memory import Memory, Reader
from blackbird.store.values import Change, Finding, Kept, Mark
from blackbird.store.writing import Writing


def made(
    words: str,
    *,
    key: str | None = None,
    session: str = "s1",
    task: str | None = None,
    run: str | None = None,
    kind: Type = Type.SEGMENT,
    at: int | None = None,
    builder: str = "1",
) -> Artifact:
    evidence = Evidence(source="req_1", side=Side.REQUEST, start=0, end=4, segment=1, sequence=2)
    segment, fact = Segment(speaker="user", text=words, position=0), Fact(name="language", value=words)
    return Artifact(
        id=artifact_id(kind, session, key or words),
        type=kind,
        session=session,
        task=task,
        run=run,
        title=words,
        content=fact if kind is Type.FACT else segment,
        provenance=(Provenance(item="it_1", evidence=evidence),),
        builder=builder,
        at=at,
    )


@pytest.fixture
def memory(tmp_path: Path) -> Writing:
    folder = tmp_path / "home" / "derived"
    with files.locked(folder):
        found = Writing.new(folder, "1", "T")
        files.put_in_place(folder, found.path)
        return found


def titles(memory: Memory, **wanted: object) -> list[str]:
    return [stored.artifact.title for stored in memory.find(**wanted)]  # type: ignore[arg-type]


@pytest.mark.requirement("STORE-01")
def test_it_is_a_file_for_its_owner_alone(memory: Writing, tmp_path: Path) -> None:
    memory.put("s1", [made("one")])
    folder = tmp_path / "home" / "derived"
    assert {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir() if not path.is_symlink()} == {
        "memory-00000001.db": 0o600,
        "memory-00000001.db-wal": 0o600,
        "memory-00000001.db-shm": 0o600,
        "memory.lock": 0o600,
    }
    assert (folder.stat().st_mode & 0o777, folder.parent.stat().st_mode & 0o777) == (0o700, 0o700)
    assert memory.meta("trace") == "T"


def test_artifacts_are_found_by_id_session_task_type_and_run(memory: Writing) -> None:
    one = made("one", task="t1", run="r1", at=2)
    two = made("two", task="t1", run="r2", at=1)
    three = made("three", session="s2", kind=Type.FACT)
    memory.put("s1", [one, two])
    memory.put("s2", [three])
    found = memory.get(one.id)
    assert found is not None
    assert found.artifact == one
    assert memory.get("art_none") is None
    assert titles(memory) == ["three", "two", "one"]
    assert titles(memory, session="s1") == ["two", "one"]
    assert titles(memory, task="t1", run="r2") == ["two"]
    assert titles(memory, kind=Type.FACT) == ["three"]
    assert [stored.artifact for stored in memory.starting(one.id[:10])] == [one]
    assert memory.counts() == {"fact": 1, "transcript": 2}
    with Reader(memory.path.parent) as reader:
        assert reader.memory is not None
        assert titles(reader.memory, session="s2") == ["three"]


def test_a_session_takes_the_place_of_what_it_was(memory: Writing) -> None:
    memory.put("s1", [made("one"), made("two", key="two")], scope=b"1")
    changes = memory.put("s1", [made("one"), made("other", key="two"), made("new")], scope=b"1")
    assert sorted((change.what, change.title) for change in changes) == [("added", "new"), ("changed", "other")]
    assert memory.put("s1", [made("new"), made("one"), made("other", key="two")], scope=b"1") == []
    assert [(change.what, change.title) for change in memory.put("s1", [made("one"), made("new")])] == [
        ("removed", "other")
    ]
    assert memory.sessions().keys() == {"s1"}
    assert [change.what for change in memory.drop("s1")] == ["removed", "removed"]
    assert memory.sessions() == {}


def test_what_did_not_change_is_not_written(memory: Writing) -> None:
    memory.put(
        "s1", [made("one")], [Finding(rule="exchange", source="req_1", message="no", session="s1")], scope=b"x"
    )
    before = memory._database.total_changes()
    again = [Finding(rule="exchange", source="req_1", message="no", session="s1")]
    assert memory.put("s1", [made("one")], again, scope=b"x") == []
    assert memory._database.total_changes() == before


def test_what_is_gone_from_the_trace_stays_and_is_marked(memory: Writing) -> None:
    old = made("old")
    memory.put("s1", [old, made("one")])
    assert memory.put("s1", [made("one")], gone={old.id}, scope=b"2") == [
        Change(id=old.id, what="expired", type="transcript", session="s1", title="old")
    ]
    found = memory.get(old.id)
    assert found is not None
    assert found.is_expired
    memory.put("s1", [made("one"), old], scope=b"3")
    found = memory.get(old.id)
    assert found is not None
    assert not found.is_expired


def test_findings_are_those_of_the_last_time(memory: Writing) -> None:
    one = Finding(rule="exchange", source="req_1", message="no", session="s1", segment=1, sequence=5)
    segment = Finding(rule="segment", source="segment 2", message="damaged")
    memory.put("s1", [made("one")], [one])
    memory.note([segment])
    memory.note([segment])
    assert memory.findings() == [segment, one]
    assert memory.findings("s1") == [one]
    memory.put("s1", [made("one")])
    assert memory.findings() == [segment]


def test_the_mark_and_the_survey_go_together(memory: Writing) -> None:
    assert (memory.mark(), memory.survey_mark(), memory.meta("survey")) == (None, None, None)
    memory.move(Mark(1, 5, 300), b"survey")
    memory.move(Mark(2, 9))
    assert (memory.mark(), memory.survey_mark(), memory.meta("survey")) == (Mark(2, 9), Mark(1, 5, 300), b"survey")


@pytest.mark.requirement("ART-05")
def test_the_dump_depends_on_the_content_alone(memory: Writing, tmp_path: Path) -> None:
    memory.put("s1", [made("one"), made("two")])
    memory.put("s2", [made("three", session="s2")])
    with Writing.new(memory.path.parent, "1", "T") as other:
        other.put("s2", [made("x", session="s2"), made("three", session="s2")])
        other.put("s2", [made("three", session="s2")])
        other.put("s1", [made("two"), made("one")])
        assert list(other.dump()) == list(memory.dump())
        assert list(differences(memory, other)) == []


def test_two_memories_differ_by_what_they_say_and_not_by_who_made_them(memory: Writing) -> None:
    memory.put("s1", [made("one"), made("two", key="two"), made("three")])
    with Writing.new(memory.path.parent, "2", "T") as other:
        other.put("s1", [made("one", builder="2"), made("zwei", key="two", builder="2"), made("four", builder="2")])
        found = sorted((change.what, change.title) for change in differences(memory, other))
        assert found == [("added", "four"), ("changed", "zwei"), ("removed", "three")]
        assert {change.what for change in differences(None, other)} == {"added"}


def test_a_reader_finds_the_new_file(memory: Writing, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = memory.path.parent
    memory.put("s1", [made("one")])
    with Reader(folder) as reader:
        first = reader.memory
        assert first is not None
        with Writing.new(folder, "2", "T") as other:
            other.put("s1", [made("two")])
            other.settle()
            assert reader.memory is first
            files.put_in_place(folder, other.path)
        assert titles(first) == ["one"]
        assert reader.memory is not None
        assert titles(reader.memory) == ["two"]
    files.sweep(folder)
    assert memory.path.exists()
    monkeypatch.setattr(files, "_GRACE_SECONDS", -1.0)
    files.sweep(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["memory-00000002.db", "memory.db", "memory.lock"]


def test_there_is_no_memory_before_one_was_made(tmp_path: Path) -> None:
    with Reader(tmp_path) as reader:
        assert reader.memory is None


def test_a_file_that_is_no_memory_is_told(tmp_path: Path) -> None:
    for content in (b"no database at all " * 300, b""):
        path = tmp_path / "memory-00000001.db"
        path.write_bytes(content)
        with pytest.raises(MemoryDamaged, match="memory"), Memory(path) as memory:
            memory.sessions()


def test_one_writes_at_a_time(tmp_path: Path) -> None:
    with files.locked(tmp_path), pytest.raises(MemoryBusy), files.locked(tmp_path):
        pass
    with files.locked(tmp_path):
        pass


def test_kept_values_are_plain(memory: Writing) -> None:
    memory.put("s1", [made("one")], scope=b"scope")
    kept = memory.sessions()["s1"]
    assert kept == Kept(kept.digest, b"scope")
    assert len(kept.digest) == 16


def test_notes_are_read_again_when_they_changed(memory: Writing) -> None:
    memory.put("s1", [], note=Note(session="s1", goal="one"))
    with Memory(memory.path) as other:
        assert other.notes() == memory.notes() == {"s1": Note(session="s1", goal="one")}
        other.notes().clear()
        memory.put("s1", [], note=Note(session="s1", goal="two"))
        assert other.notes() == memory.notes() == {"s1": Note(session="s1", goal="two")}
        assert other.digests(["s1", "s2"]) == {"s1": memory.sessions()["s1"].digest}


def test_the_newest_of_a_type_are_found(memory: Writing) -> None:
    memory.put("s1", [made(f"{at}", at=at) for at in range(4)] + [made("fact", kind=Type.FACT, at=9)])
    memory.put("s2", [made("other", session="s2", at=8)])
    assert [stored.artifact.title for stored in memory.newest("s1", {Type.SEGMENT: 2})] == ["3", "2"]


def test_a_session_is_known_by_its_very_name(memory: Writing) -> None:
    memory.put("s1", [made("one")])
    assert [memory.has_session(name) for name in ("s1", "s", "s11", "")] == [True, False, False, False]
