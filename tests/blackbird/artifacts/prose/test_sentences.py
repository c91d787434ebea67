"""Sentences, items and headings, with their places."""

from hypothesis import given
from hypothesis import strategies as st

from blackbird.artifacts.prose.sentences import Form, masked, plain, sentences


def said(text: str) -> list[tuple[str, str]]:
    return [(one.form.value, text[one.first : one.last]) for one in sentences(text)]


def test_a_paragraph_is_split_at_its_stops_and_goes_on_over_lines() -> None:
    text = "Use the queue.\nIt keeps order, e.g. by date. Is that\nclear? Good!"
    assert said(text) == [
        ("plain", "Use the queue."),
        ("plain", "It keeps order, e.g. by date."),
        ("plain", "Is that\nclear?"),
        ("plain", "Good!"),
    ]


def test_code_does_not_end_a_sentence() -> None:
    assert said("Rename `a. b` to v1.2.3 now.") == [("plain", "Rename `a. b` to v1.2.3 now.")]


def test_items_boxes_and_headings_have_their_form() -> None:
    text = "## Plan\n- one\n  goes on\n* two. Three.\n1. four\n- [ ] five\n- [x] six\n"
    assert said(text) == [
        ("heading", "Plan"),
        ("item", "one\n  goes on"),
        ("item", "two."),
        ("item", "Three."),
        ("item", "four"),
        ("open_box", "five"),
        ("ticked_box", "six"),
    ]


def test_code_tables_quotes_and_rules_are_left_out() -> None:
    text = "Before.\n```py\nnever = 1\n```\n| a | b |\n> quoted\n---\nAfter."
    assert said(text) == [("plain", "Before."), ("plain", "After.")]


def test_a_fence_closes_only_with_one_as_long() -> None:
    assert said("````\n```\ncode\n````\nAfter.") == [("plain", "After.")]


def test_a_list_knows_the_line_above_it() -> None:
    text = "Next steps:\n\n- one\n\nAnother thing.\n\n- two"
    leads = {text[one.first : one.last]: one.lead for one in sentences(text)}
    assert leads == {"Next steps:": "", "one": "Next steps:", "Another thing.": "", "two": ""}


def test_a_list_below_a_heading_has_that_for_its_lead() -> None:
    assert [one.lead for one in sentences("# Decisions\n\n- one") if one.form is Form.ITEM] == ["Decisions"]


def test_masked_words_keep_their_places() -> None:
    assert masked('say "never" in `always` x') == 'say "¤¤¤¤¤" in `¤¤¤¤¤¤` x'


def test_plain_words_have_no_marks_but_keep_code() -> None:
    assert plain("**Decision:** keep\n`__init__` as _it_ is") == "Decision: keep `__init__` as it is"


@given(st.text(alphabet='ab.!? \n`-#*|>[]x1)"', max_size=200))
def test_sentences_stand_in_order_and_hold_something(text: str) -> None:
    at = 0
    for one in sentences(text):
        assert at <= one.first < one.last <= len(text)
        assert text[one.first : one.last].strip() == text[one.first : one.last]
        at = one.last
