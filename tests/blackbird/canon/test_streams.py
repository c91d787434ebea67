"""Bodies are split into their documents by shape, each with its exact place, whole or cut off anywhere."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.canon import streams
from blackbird.canon.seen import Slice
from blackbird.canon.streams import Pieces

SSE = "text/event-stream"
VALUES = st.lists(st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text()), max_size=3), max_size=5)


def values(found: Pieces) -> list[object]:
    return [json.loads(piece.data) for piece in found.pieces]


def check(body: bytes, found: Pieces) -> None:
    for piece in found.pieces:
        assert body[piece.start : piece.end] == piece.data


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_events_with_any_line_end(end: bytes) -> None:
    lines = [
        b": hello",
        b"",
        b"event: a",
        b'data: {"a": 1}',
        b"id: 7",
        b"",
        b'data:{"b":2}',
        b"",
        b"data: [DONE]",
        b"",
    ]
    body = end.join([*lines, b"", b""])
    found = streams.split(body, SSE)
    assert [piece.data for piece in found.pieces] == [b'{"a": 1}', b'{"b":2}', b"[DONE]"]
    assert not found.is_cut
    check(body, found)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_data_of_several_lines_is_one_document_in_its_place(end: bytes) -> None:
    body = end.join([b'data: {"a":', b"event: x", b'data: "data: y"', b"data:}", b"", b'data: {"b":1}', b"", b""])
    found = streams.split(body, SSE)
    assert values(found) == [{"a": "data: y"}, {"b": 1}]
    first = found.pieces[0]
    at = first.data.index(b'"data: y"')
    assert body[first.start + at :].startswith(b'"data: y"')
    assert (first.start, first.end) == (6, body.index(b"}") + 1)
    assert not found.is_cut


def test_an_event_without_its_blank_line_counts_if_it_is_whole() -> None:
    assert streams.split(b'data: {"a":1}\n\ndata: {"b":2}', SSE) == Pieces(
        [Slice(b'{"a":1}', 6), Slice(b'{"b":2}', 21)], False
    )
    assert streams.split(b'data: {"a":1}\n\ndata: {"b":', SSE) == Pieces([Slice(b'{"a":1}', 6)], is_cut=True)
    assert streams.split(b'data: {"a":1}\n\nevent: mess', SSE) == Pieces([Slice(b'{"a":1}', 6)], is_cut=True)
    assert streams.split(b'data: {"a":1}\n\n: waiting\n\n', SSE) == Pieces([Slice(b'{"a":1}', 6)], is_cut=False)
    assert streams.split(b"da", SSE) == Pieces([], is_cut=True)
    assert streams.split(b": only a word\n\n", SSE) == Pieces([], is_cut=False)


def test_lines() -> None:
    body = b'{"a":1}\n\n{"b":"\xc3\xa4"}\r\n{"c":3}'
    assert streams.split(body, None) == Pieces(
        [Slice(b'{"a":1}', 0), Slice(b'{"b":"\xc3\xa4"}', 9), Slice(b'{"c":3}', 21)], False
    )
    assert streams.split(body[:-1], "application/x-ndjson").is_cut
    assert len(streams.split(body[:-1], None).pieces) == 2


def test_an_array_is_its_items() -> None:
    body = b'[{"a": "]},"}\n,\n{"b": [1, {}]}\n]\n'
    found = streams.split(body, "application/json")
    assert values(found) == [{"a": "]},"}, {"b": [1, {}]}]
    assert not found.is_cut
    check(body, found)


def test_an_array_that_was_cut_has_its_whole_items() -> None:
    body = b'[{"a": "]},\\""}\n,\n{"b": [1, {}]}\n,{"c": "'
    found = streams.split(body, "application/json")
    assert values(found) == [{"a": ']},"'}, {"b": [1, {}]}]
    assert found.is_cut
    check(body, found)


def test_what_looks_like_items_in_a_string_that_was_cut() -> None:
    assert streams.split(b'[{"a": "}, {}, [1]', None) == Pieces([], is_cut=True)
    assert streams.split(b'[{}, {"a": "} {}\\', None) == Pieces([Slice(b"{}", 1)], is_cut=True)


def test_many_empty_lines() -> None:
    assert streams.split(b"\n" * 10_000 + b"x", SSE) == Pieces([], is_cut=True)
    assert streams.split(b"data: {}\n\n" + b"\r\n:\n" * 10_000, SSE) == Pieces([Slice(b"{}", 6)], is_cut=False)
    assert streams.split(b"data: {}\n\n" + b"\r\n:\n" * 10_000 + b"x", SSE).is_cut


def test_one_document() -> None:
    assert streams.split(b' {"a":\n1}\n', "application/json") == Pieces([Slice(b'{"a":\n1}', 1)], is_cut=False)
    assert streams.split(b'{"a":\n1', "application/json") == Pieces([Slice(b'{"a":\n1', 0)], is_cut=True)
    assert streams.split(b"<html>no</html>", "text/html") == Pieces([Slice(b"<html>no</html>", 0)], is_cut=True)
    assert streams.split(b"", SSE) == Pieces([], is_cut=False)


@pytest.mark.parametrize("content_type", [None, SSE, "application/json", "text/plain", "application/x-ndjson"])
def test_the_shape_counts_whatever_the_type_says(content_type: str | None) -> None:
    assert values(streams.split(b'data: {"a":1}\n\n', content_type)) == [{"a": 1}]
    assert values(streams.split(b'{"a":1}', content_type)) == [{"a": 1}]
    assert values(streams.split(b'{"a":1}\n{"b":2}\n', content_type)) == [{"a": 1}, {"b": 2}]
    assert values(streams.split(b'[{"a":1}]', content_type)) == [{"a": 1}]


@given(VALUES, st.sampled_from([b"\n", b"\r\n", b"\r"]), st.booleans(), st.integers(0))
def test_a_cut_stream_is_the_beginning_of_the_whole(written: list[object], end: bytes, ascii_: bool, at: int) -> None:
    spelled = [json.dumps(value, ensure_ascii=ascii_).encode(errors="replace") for value in written]
    body = b"".join(b"event: x" + end + b"data: " + each + end + end for each in spelled)
    whole = streams.split(body, SSE)
    assert [piece.data for piece in whole.pieces] == spelled
    assert not whole.is_cut
    check(body, whole)
    cut = streams.split(body[: at % (len(body) + 1)], SSE)
    assert cut.pieces == whole.pieces[: len(cut.pieces)]


@given(VALUES, st.integers(0))
def test_cut_lines_are_the_beginning_of_the_whole(written: list[object], at: int) -> None:
    body = b"".join(json.dumps(value).encode() + b"\n" for value in written)
    whole = streams.split(body, None)
    assert values(whole) == written
    cut = streams.split(body[: at % (len(body) + 1)], None)
    assert cut.pieces == whole.pieces[: len(cut.pieces)] or (len(cut.pieces) == 1 and cut.is_cut)


@given(VALUES, st.integers(0))
def test_a_cut_array_is_the_beginning_of_the_whole(written: list[object], at: int) -> None:
    body = b"[" + b",\r\n".join(json.dumps(value).encode() for value in written) + b"]"
    whole = streams.split(body, None)
    assert values(whole) == written
    check(body, whole)
    size = at % (len(body) + 1)
    cut = streams.split(body[:size], None)
    assert cut.pieces == whole.pieces[: len(cut.pieces)]
    assert cut.is_cut is (0 < size < len(body))


@given(st.binary() | st.binary().map(lambda data: b"data: " + data) | st.binary().map(lambda data: b"[" + data))
def test_any_bytes(body: bytes) -> None:
    found = streams.split(body, SSE)
    assert all(0 <= piece.start <= piece.end <= len(body) for piece in found.pieces)


@given(
    st.lists(st.sampled_from([b"data: ", b"data:", b"\n", b"\n\n", b"\r\n", b"{}", b"event: x\n", b"id: 1\n", b"x"]))
)
def test_a_comment_before_a_stream_changes_nothing(parts: list[bytes]) -> None:
    body = b"data: 1\n\n" + b"".join(parts)
    behind = streams.split(b":\n\n" + body, SSE)
    moved = [Slice(piece.data, piece.start - 3) for piece in behind.pieces]
    assert streams.split(body, SSE) == Pieces(moved, behind.is_cut)
