"""Turns taken apart: whose words are whose, and where each of them stands."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.canon.model import Media, Origin, Part, Role, Span, Text, Thinking, Turn, Unknown
from blackbird.canon.seen import Slice
from blackbird.timeline.weaving import elements, keys
from blackbird.timeline.weaving.elements import Element, Kind

REMINDER = "<system-reminder>\nUse the tools.\n</system-reminder>"


def of(role: Role, *parts: Part, origin: Origin | None = None) -> list[Element]:
    return elements.of_turns([Turn(role, parts)], None, origin)


def told(found: list[Element]) -> list[tuple[Kind, Origin]]:
    return [(element.mold.kind, element.mold.origin) for element in found]


def test_a_users_words_are_one_and_wrappers_stand_beside_them() -> None:
    image = Media("image", sha256="00")
    found = of(Role.USER, Text(REMINDER), Text("Fix"), image, Text("it"))
    assert told(found) == [(Kind.ASIDE, Origin.CLIENT), (Kind.WORDS, Origin.USER)]
    assert found[1].parts == (Text("Fix"), image, Text("it"))
    assert found[1].mold.key == of(Role.USER, Text(" Fix it\n"))[0].mold.key


def test_what_a_client_says_is_the_same_in_anyones_name() -> None:
    wrapped = of(Role.USER, Text(REMINDER))[0]
    bare = of(Role.SYSTEM, Text("Use the tools."))[0]
    assert wrapped.mold.key == bare.mold.key
    assert told([bare]) == [(Kind.ASIDE, Origin.SYSTEM)]


def test_an_image_alone_is_known_by_its_digest() -> None:
    first, second = (of(Role.USER, Media("image", sha256=digest))[0] for digest in ("00", "11"))
    assert first.mold.kind is Kind.WORDS
    assert first.mold.key != second.mold.key


def test_what_says_nothing_is_no_element() -> None:
    assert of(Role.USER, Text(" \n")) == []
    assert of(Role.ASSISTANT, Text(""), Thinking("")) == []


def test_an_encrypted_thought_and_what_nobody_knows_are_kept() -> None:
    found = of(Role.ASSISTANT, Thinking("", signature="x", is_encrypted=True), Unknown("new", 3))
    assert told(found) == [(Kind.THOUGHT, Origin.AGENT), (Kind.ASIDE, Origin.AGENT)]


def test_what_nobody_knows_is_no_word_of_the_agent_in_anothers_turn() -> None:
    assert told(of(Role.SYSTEM, Unknown("tools", 3))) == [(Kind.ASIDE, Origin.SYSTEM)]
    assert told(of(Role.USER, Unknown("new", 3))) == [(Kind.ASIDE, Origin.CLIENT)]


@pytest.mark.parametrize("origin", [Origin.CLIENT, Origin.PACK, Origin.SUMMARY])
def test_a_log_may_say_whose_words_they_are(origin: Origin) -> None:
    kind = Kind.WORDS if origin is Origin.SUMMARY else Kind.ASIDE
    assert told(of(Role.USER, Text("Fix it"), origin=origin)) == [(kind, origin)]


@given(st.text(st.characters(codec="utf-8")), st.data(), st.booleans(), st.integers(0, 9))
def test_a_piece_of_a_text_stands_where_its_bytes_are(
    text: str, data: st.DataObject, is_ascii: bool, before: int
) -> None:
    literal = json.dumps(text, ensure_ascii=is_ascii).encode("utf-8")[1:-1]
    body = b"x" * before + literal
    first = data.draw(st.integers(0, len(text)))
    last = data.draw(st.integers(first, len(text)))
    whole = Text(text, (Span(0, len(text), before, len(body)),) if text else ())
    piece = elements.cut(whole, first, last, Slice(body, 0))
    assert piece.text == text[first:last]
    assert "".join(json.loads(b'"' + body[span.start : span.end] + b'"') for span in piece.spans) == piece.text
    assert [(span.first, span.last) for span in piece.spans] == ([(0, last - first)] if last > first else [])


def test_without_the_bytes_only_plain_text_has_its_places() -> None:
    plain, escaped = Text("abcd", (Span(0, 4, 10, 14),)), Text("a\ncd", (Span(0, 4, 10, 15),))
    assert elements.cut(plain, 1, 3, None) == Text("bc", (Span(0, 2, 11, 13),))
    assert elements.cut(escaped, 1, 3, None) == Text("\nc")


def test_keys() -> None:
    assert keys.digest("ab", "c") != keys.digest("a", "bc")
    assert keys.use("read", {"a": 1, "b": 2}, "") == keys.use("read", {"b": 2, "a": 1}, "")
    assert keys.use("read", None, '{"a": 1') == keys.use("read", None, '{"a":1')
    assert keys.words(Role.USER, "x") != keys.words(Role.ASSISTANT, "x")
    assert keys.item("req_1", 0, "request", 1) != keys.item("req_1", 0, "request", 11)
