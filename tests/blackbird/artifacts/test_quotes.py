"""A quote stands where it says, and nowhere else."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.artifacts import quotes
from blackbird.artifacts.model import Provenance
from blackbird.canon.model import Message, Span, Text
from tests.blackbird.artifacts.stories import Story


def quoted(text: str, first: int, last: int) -> tuple[Story, Provenance]:
    story = Story()
    story.user(text)
    (item,) = story.timeline().items
    assert isinstance(item, Message)
    (part,) = item.parts
    assert isinstance(part, Text)
    place = quotes.of_text(item, part.text, part.spans, first, last)
    assert place is not None
    return story, place


@given(st.text(min_size=1, max_size=40), st.data())
def test_any_words_of_a_message_stand_at_their_place(text: str, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(text) - 1))
    last = data.draw(st.integers(first + 1, len(text)))
    story, place = quoted(text, first, last)
    assert place.quote == text[first:last]
    assert story.has(place)


def test_other_words_do_not_stand_there() -> None:
    story, place = quoted('Use "lamps" for the\nquay.', 4, 11)
    assert place.quote == '"lamps"'
    assert story.has(place)
    assert not story.has(msgspec.structs.replace(place, quote='"lambs"'))
    assert not story.has(msgspec.structs.replace(place, first=5))


def test_a_quote_over_several_stretches_keeps_those_that_it_touches() -> None:
    body = b'{"a":"one "}{"a":"two "}{"a":"three"}'
    spans = (Span(0, 4, 6, 10), Span(4, 8, 18, 22), Span(8, 13, 30, 35))
    story = Story()
    story.user("one two three")
    item = msgspec.structs.replace(story.timeline().items[0])
    place = quotes.of_text(item, "one two three", spans, 5, 10)
    assert place is not None
    assert (place.quote, place.evidence.start, place.evidence.end, place.spans) == ("wo th", 18, 35, spans[1:])
    assert quotes.stands(body, place)
    assert not quotes.stands(body[:30], place)


@pytest.mark.parametrize("text", ["tab\there", "ü€𝄞", "\\n stays"])
def test_spelled_by_escapes_or_plainly(text: str) -> None:
    story, place = quoted(text, 0, len(text))
    assert story.has(place)
    plain = msgspec.structs.replace(place, spans=(Span(0, len(text), 0, len(text.encode())),))
    narrowed = msgspec.structs.replace(plain, evidence=msgspec.structs.replace(place.evidence, start=0, end=1))
    assert quotes.stands(text.encode(), narrowed)
