"""From an artifact to the very bytes: where they stand, and whether they are what was written."""

from pathlib import Path
from typing import Any

import pytest

from blackbird import derive
from blackbird.artifacts.model import Artifact
from blackbird.artifacts.proof import Proof
from blackbird.recall import Piece
from blackbird.recall.pieces import pieces
from blackbird.store.memory import Reader
from tests.blackbird.recall.kept import Kept


def artifacts(kept: Kept) -> list[Artifact]:
    derive.catch_up(kept.home)
    with Reader(kept.home.derived) as reader:
        assert reader.memory is not None
        return [stored.artifact for stored in reader.memory.all()]


def found(kept: Kept) -> list[Piece]:
    return [piece for artifact in artifacts(kept) for piece in pieces(kept.home.trace, artifact)]


@pytest.mark.requirement("METRICS-06")
@pytest.mark.parametrize("sealed", [(), (1,)])
def test_each_piece_names_the_records_that_its_bytes_stand_in(tmp_path: Path, sealed: tuple[int, ...]) -> None:
    kept = Kept(tmp_path).record()
    written = kept.book.tracer.segments[0].wal
    kept.book.rotate()
    kept.say(kept.one, "Go on.", "I did.")
    kept.save(sealed=sealed)
    if sealed:
        (kept.home.trace / "00000001.wal").unlink()
    got = found(kept)
    assert len(got) > 8
    for piece in got:
        assert (piece.is_sound, piece.proof, piece.masked) == (True, Proof.FOUND, 0)
        assert piece.data is not None
        assert len(piece.data) == piece.evidence.end - piece.evidence.start
        assert piece.records[0].segment == piece.evidence.segment
        assert piece.records[0].sequence >= (piece.evidence.sequence or 0)
        if piece.records[0].segment == 1:
            spelled = b"".join(written[each.offset + 44 : each.end] for each in piece.records)
            assert piece.data in spelled


@pytest.mark.requirement("METRICS-06")
def test_words_that_were_exchanged_are_told(tmp_path: Path) -> None:
    kept = Kept(tmp_path).record()
    before = artifacts(kept)
    record = next(each for each in kept.book.tracer.current.records if b"harbour" in (each.payload or b""))
    kept.book.tracer.current.change(record.sequence, (record.payload or b"").replace(b"harbour", b"barhour"))
    kept.save()
    got = [piece for artifact in before for piece in pieces(kept.home.trace, artifact)]
    assert {piece.proof for piece in got if not piece.is_sound} == {Proof.OTHER}


@pytest.mark.requirement("METRICS-06")
def test_a_segment_that_was_written_anew_is_told_by_the_one_that_follows(tmp_path: Path) -> None:
    kept = Kept(tmp_path).record()
    kept.book.rotate()
    kept.say(kept.one, "Go on.", "I did.")
    kept.save()
    before = artifacts(kept)
    first = kept.book.tracer.segments[0]
    other = first.records[-1]
    first.change(other.sequence, (other.payload or b"").replace(b"true", b"true "))
    (kept.home.trace / "00000001.wal").write_bytes(first.wal)
    got = [piece for artifact in before for piece in pieces(kept.home.trace, artifact)]
    wrong = {piece.evidence.segment: piece.problems for piece in got if not piece.is_sound}
    assert wrong == {1: ("segment 1 is not as it was recorded: its root differs",)}
    assert {piece.proof for piece in got} == {Proof.FOUND}


@pytest.mark.requirement("METRICS-06")
def test_damage_is_told_with_its_place(tmp_path: Path) -> None:
    kept = Kept(tmp_path).record()
    before = artifacts(kept)
    path = kept.home.trace / "00000001.wal"
    data = bytearray(path.read_bytes())
    at = data.index(b"harbour is calm")
    data[at] ^= 1
    path.write_bytes(data)
    got = [piece for artifact in before for piece in pieces(kept.home.trace, artifact)]
    problems = {problem for piece in got for problem in piece.problems}
    assert len(problems) == 1
    assert problems.pop().endswith(" of segment 1 are damaged")


def test_what_retention_removed_is_gone_and_no_mistake(tmp_path: Path) -> None:
    kept = Kept(tmp_path).record()
    before = artifacts(kept)
    kept.book.tracer.save(kept.home.trace, gone=(1,))
    (kept.home.trace / "00000001.wal").unlink()
    got = [piece for artifact in before for piece in pieces(kept.home.trace, artifact)]
    assert {(piece.proof, piece.data, piece.records, piece.is_sound) for piece in got} == {
        (Proof.GONE, None, (), True)
    }


def test_statements_and_imported_lines_lead_to_their_records(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    said: dict[str, Any] = {
        "type": "user",
        "sessionId": "native-1",
        "uuid": "u1",
        "timestamp": "2026-11-16T12:00:00Z",
    }
    said |= {"message": {"role": "user", "content": "Always run the linter before you commit."}}
    kept.book.log("claude-code", "/home/mira/log.jsonl", "native-1", [said])
    kept.save()
    got = found(kept)
    assert got
    lines = [piece for piece in got if piece.evidence.side == "line"]
    assert lines
    for piece in lines:
        assert (piece.is_sound, piece.evidence.file) == (True, "/home/mira/log.jsonl")
        assert [each.sequence for each in piece.records] == [piece.evidence.sequence]
        assert b"run the linter" in (piece.data or b"")
