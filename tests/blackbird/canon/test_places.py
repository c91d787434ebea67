"""Values of JSON are found where they stand, however the document is spelled."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blackbird.canon import places
from blackbird.canon.model import Span
from blackbird.canon.places import Growing
from blackbird.canon.seen import Slice

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)
FORMS: list[dict[str, Any]] = [{}, {"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False}]


def check(body: bytes, value: Slice, expected: object) -> None:
    assert body[value.start : value.end] == value.data
    assert json.loads(value.data) == expected
    if isinstance(expected, dict):
        found = places.members(value)
        assert list(found) == list(expected)
        for key, inner in found.items():
            check(body, inner, expected[key])
    elif isinstance(expected, list):
        items = places.items(value)
        assert len(items) == len(expected)
        for inner, each in zip(items, expected, strict=True):
            check(body, inner, each)
    elif isinstance(expected, str):
        text, spans = places.read_literal(value)
        assert text == expected
        assert [json.loads(b'"' + body[span.start : span.end] + b'"') for span in spans] == ([text] if text else [])


@pytest.mark.requirement("CANON-08")
@given(JSON, st.sampled_from(FORMS), st.integers(0, 9))
@example({"a": "a", '"': '"', "[": ["[", "["], "{": {"{": "\\"}}, {}, 3)
def test_every_value_stands_where_it_is_said_to(value: object, form: dict[str, Any], lead: int) -> None:
    spelled = json.dumps(value, **form).encode()
    body = b"x" * lead + spelled
    check(body, Slice(spelled, lead), value)


def test_a_key_that_is_there_twice() -> None:
    found = places.members(Slice(b'{"a": 1, "b": 2, "a": 3}', 10))
    assert {key: value.data for key, value in found.items()} == {"a": b"3", "b": b"2"}
    assert found["a"].start == 32


@pytest.mark.parametrize("data", [b"", b"{", b"[1", b"nul", b"\xff", b'"', b"[" * 100_000, b'{"a":' * 100_000])
def test_what_is_no_json_has_no_values(data: bytes) -> None:
    value = Slice(data, 0)
    assert places.members(value) == {}
    assert places.items(value) == []
    assert places.read_literal(value) == ("", ())
    assert places.read_any(data) is None
    assert places.read_object(data) == {}
    assert places.unquote(data) is None


@given(st.binary())
def test_any_bytes(data: bytes) -> None:
    value = Slice(data, 0)
    places.members(value)
    places.items(value)
    places.unquote(b'"' + data + b'"')
    assert len(places.mend(data)) == len(data)


def test_half_characters_are_mended_in_place() -> None:
    body = rb'{"a": "x\ud83d", "b": "\ud83d\ude00", "c": "\\ud83d", "d": "\ude00y", "e": "z"}'
    found = places.members(Slice(body, 0))
    assert {key: places.unquote(value.data) for key, value in found.items()} == {
        "a": "x\ufffd",
        "b": "\U0001f600",
        "c": "\\ud83d",
        "d": "\ufffdy",
        "e": "z",
    }
    assert [body[found[key].start : found[key].end] for key in "bcde"] == [
        rb'"\ud83d\ude00"',
        rb'"\\ud83d"',
        rb'"\ude00y"',
        b'"z"',
    ]
    array = Slice(rb'["\ud83d", "b", ["\udc00"]]', 3)
    assert [(item.start, item.data) for item in places.items(array)] == [
        (4, rb'"\ufffd"'),
        (14, b'"b"'),
        (19, rb'["\ufffd"]'),
    ]


def test_bytes_that_are_no_text_are_mended_in_place() -> None:
    assert places.mend(b'"\xffa\xc3\xa4\xc3"') == b'"?a\xc3\xa4?"'
    assert places.unquote(b'"\xffa"') == "?a"


@pytest.mark.parametrize(
    "spelled",
    [b'{"text":"text"}', b'{"text": "text"}', b'{"text"  :\n"text"}', b'{"text":"no","x":{"text"\t: "text"}}'],
)
def test_a_member_is_found_by_its_key_and_value(spelled: bytes) -> None:
    found = places.find_member(Slice(spelled, 100), b'"text":', msgspec.Raw(b'"text"'))
    assert found == Slice(b'"text"', 100 + spelled.rindex(b'"text"'))


def test_a_member_is_not_found_in_a_string() -> None:
    data = json.dumps({"a": '"text":"x"', "text": "x"}, separators=(",", ":")).encode()
    found = places.find_member(Slice(data, 0), b'"text":', b'"x"')
    assert found == Slice(b'"x"', data.rindex(b'"x"'))
    assert places.find_member(Slice(data, 0), b'"other":', b'"x"') is None
    assert places.find_member(Slice(data, 0), b'"text":', b'"x"', begin=len(data) - 5) is None


def test_what_a_path_leads_to() -> None:
    value = Slice(b'{"a": [{"b": 7}]}', 5)
    assert places.inside(value, "a", 0, "b") == Slice(b"7", 18)
    assert places.inside(value) == value
    assert places.inside(value, "a", 1) is None
    assert places.inside(value, "x", "y", 0) is None
    assert places.inside(value, 0) is None


def test_a_text_grows() -> None:
    growing = Growing()
    assert not growing
    growing.add_break()
    growing.add("ab", 10, 12)
    growing.add("", 20, 20)
    growing.add_literal(Slice(b'"\\n"', 30))
    growing.add_literal(Slice(b"17", 40))
    growing.add_break()
    growing.add_all("cd", (Span(0, 1, 50, 51), Span(1, 2, 60, 61)))
    assert growing
    assert growing.text == "ab\n\ncd"
    assert growing.spans == (Span(0, 2, 10, 12), Span(2, 3, 31, 33), Span(4, 5, 50, 51), Span(5, 6, 60, 61))
