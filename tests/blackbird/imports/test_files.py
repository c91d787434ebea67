"""Logs on the disk, line by line: offsets are exact, long lines come in pieces, and half a line waits."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.imports import files
from blackbird.imports.line import Line
from blackbox.errors import ReadError


def test_lines_have_their_offsets_and_half_a_line_waits(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes("é1\ntwo\nhalf".encode())
    assert list(files.read(path)) == [Line(0, 3, "é1"), Line(4, 3, "two")]
    assert list(files.read(path, start=4)) == [Line(4, 3, "two")]


def test_a_document_is_one_line_whatever_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"one\ntwo")
    assert list(files.read(path, is_document=True)) == [Line(0, 7, "one\ntwo")]


def test_a_long_line_comes_in_pieces_that_say_how_long_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    long = "é" * files.LONGEST_PIECE
    path.write_text(f"one\n{long}\nlast\n", encoding="utf-8")
    pieces = list(files.pieces(path))
    assert [(piece.offset, piece.length, piece.has_more) for piece in pieces] == [
        (0, 3, False),
        (4, 2 << 20, True),
        (4, 2 << 20, False),
        (5 + (2 << 20), 4, False),
    ]
    assert not any(piece.is_damaged for piece in pieces)
    assert [line.text for line in files.read(path)] == ["one", long, "last"]


def test_a_long_line_without_an_end_waits(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n" + b"x" * (3 * files.LONGEST_PIECE))
    assert [line.text for line in files.read(path)] == ["one"]


@pytest.mark.parametrize("size", [1, files.LONGEST_PIECE])
def test_bytes_that_are_no_text_are_replaced_and_said(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * size + b"\xff\nfine \xef\xbf\xbd\n")
    found = list(files.pieces(path))
    assert [piece.is_damaged for piece in found][-2:] == [True, False]
    assert found[-2].text.endswith("\ufffd")


def test_what_is_kept_beside_a_log_comes_first_and_in_no_place(tmp_path: Path) -> None:
    path = tmp_path / "agent-a1.jsonl"
    path.write_text("{}\n")
    (tmp_path / "agent-a1.meta.json").write_text('{"agentType":"general","type":"x"}')
    beside, line = files.read(path)
    assert (beside.offset, beside.length) == (0, 0)
    assert json.loads(beside.text) == {"type": "agent-meta", "agentId": "a1", "agentType": "general"}
    assert line == Line(0, 2, "{}")
    assert list(files.read(path, start=3)) == []


def test_what_is_kept_beside_a_log_and_is_no_object_is_none(tmp_path: Path) -> None:
    path = tmp_path / "agent-a1.jsonl"
    path.write_text("{}\n")
    (tmp_path / "agent-a1.meta.json").write_text("[1]")
    assert files.sidecar(path) is None


def test_a_log_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReadError) as caught:
        list(files.read(tmp_path / "none.jsonl"))
    assert str(tmp_path / "none.jsonl") in caught.value.message


@given(text=st.text(), offset=st.integers(0, 1 << 40))
def test_a_text_of_no_file_is_cut_like_a_line(text: str, offset: int) -> None:
    clean = text.encode("utf-8", "replace").decode()
    pieces = list(files.cut(clean, offset))
    assert "".join(piece.text for piece in pieces) == clean
    assert {piece.length for piece in pieces} == {len(clean.encode())}
    assert [piece.has_more for piece in pieces] == [True] * (len(pieces) - 1) + [False]


@given(st.lists(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\n\r")), max_size=8))
def test_any_lines_are_found_where_they_stand(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    path = tmp_path_factory.mktemp("log") / "a.jsonl"
    data = "".join(text + "\n" for text in texts).encode()
    path.write_bytes(data)
    found = list(files.read(path))
    assert [line.text for line in found] == texts
    assert [data[line.offset : line.offset + line.length].decode() for line in found] == texts
