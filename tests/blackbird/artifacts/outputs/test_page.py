"""A page: lines without what terminals and readers added, and places that are those of the text."""

from hypothesis import given
from hypothesis import strategies as st

from blackbird.artifacts.outputs.page import CLIP, LONGEST, Line, Page, plain


def test_lines_know_where_they_stand() -> None:
    assert Page("one\r\ntwo\n\nfour").lines == (
        Line("one", 0, 3),
        Line("two", 5, 8),
        Line("", 9, 9),
        Line("four", 10, 14),
    )


def test_overwritten_progress_is_lines_of_its_own() -> None:
    assert [line.text for line in Page("10%\r50%\rdone\n").lines] == ["10%", "50%", "done"]


def test_colours_are_not_seen_but_stand_in_a_quote() -> None:
    page = Page("\x1b[1m\x1b[31mbad \x1b[32mthing\x1b[0m  \n")
    assert page.lines[0].text == "bad thing  "
    assert page.stretch(0) == ("bad \x1b[32mthing", 9, 23)


def test_titles_and_charsets_are_not_seen() -> None:
    assert plain("\x1b]0;a title\x07text\x1b(B\x1b[m") == "text"


def test_a_stretch_of_lines_is_trimmed() -> None:
    assert Page("x\n  one\n  two  \n").stretch(1, 2) == ("one\n  two", 4, 13)


def test_numbers_before_lines_are_not_seen() -> None:
    assert [line.text for line in Page("  1→one\n  2→\n  3→three\n  4→four\n").lines] == ["one", "", "three", "four"]


def test_numbers_that_are_no_count_are_seen() -> None:
    assert [line.text for line in Page("3: three\n1: one\n2: two\n").lines] == ["3: three", "1: one", "2: two"]


def test_a_long_line_is_looked_at_as_far_as_the_clip() -> None:
    page = Page("y" * 10_000 + "\nz")
    assert [len(line.text) for line in page.lines] == [CLIP, 1]
    assert len(page.stretch(0).text) == LONGEST


@given(st.text(st.sampled_from("ab \t\n\r\x1b[]0;m→1\x07()B\\"), max_size=200))
def test_lines_cover_the_text_in_order(text: str) -> None:
    page = Page(text)
    behind = 0
    for at, line in enumerate(page.lines):
        assert behind <= line.first <= line.last <= len(text)
        assert not set(text[behind : line.first]) - set("\r\n")
        stretch = page.stretch(at)
        assert line.first <= stretch.first <= stretch.last <= line.last
        assert text[stretch.first : stretch.last] == stretch.text
        behind = line.last
    assert not set(text[behind:]) - set("\r\n")
