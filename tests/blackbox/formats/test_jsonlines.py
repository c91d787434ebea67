"""Objects to lines, lines to objects, and the patch from one object to another."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from blackbox.formats.jsonlines import Numbered, can_carry, diff, dump, load_all, patched

values: st.SearchStrategy[Any] = st.recursive(
    st.text(max_size=3) | st.integers() | st.booleans(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(st.sampled_from("abcd"), values, max_size=4)


@given(objects, objects)
def test_a_patch_makes_the_target_of_its_base(base: dict[str, Any], target: dict[str, Any]) -> None:
    result = patched(base, diff(base, target))
    assert json.dumps(result, sort_keys=True) == json.dumps(target, sort_keys=True)


def test_a_patch_names_only_what_differs() -> None:
    base = {"t": "o", "id": "c1", "a": {"x": "1", "y": "2"}}
    target = {"t": "t", "id": "c1", "a": {"x": "1", "z": "3"}}
    assert diff(base, target) == {"t": "t", "a": {"y": None, "z": "3"}}
    assert diff(base, base) == {}


def test_lines_end_at_line_feeds_alone() -> None:
    data = '{"a":"x\u2028y"}\r\n\n  {"b":1}\n{"c":'.encode()
    assert list(load_all(b"\xef\xbb\xbf" + data)) == [
        Numbered(1, '{"a":"x\u2028y"}', {"a": "x\u2028y"}),
        Numbered(3, '{"b":1}', {"b": 1}),
        Numbered(4, '{"c":', None),
    ]


def test_any_bytes_are_lines() -> None:
    assert [line.value for line in load_all(b"\xff\xfe\n" + b"[" * 100_000 + b"\n\x00")] == [None, None, None]


def test_what_is_no_character_is_known() -> None:
    assert can_carry({"a": ["é😀"]})
    assert not can_carry({"a": ["\udc80"]})
    assert dump({"a": "é"}) == '{"a":"é"}'
