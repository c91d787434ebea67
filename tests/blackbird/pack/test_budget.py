"""Who gets how many tokens, and what fits."""

import pytest

from blackbird.pack.budget import Fit, Meter, missing, shares, spread
from blackbird.pack.material import Candidate, Choice
from blackbird.pack.model import Caps

CAPS = Caps(total=1500)
ALL = ("goal", "facts", "files", "decisions", "constraints", "implemented", "warnings", "open_threads", "pointers")


class Words:
    """Counts words: easy to follow."""

    name = "words/1"

    def count(self, text: str) -> int:
        return len(text.split())


def fit() -> Fit:
    return Fit(Meter(Words()), is_marking=False)


def choice(name: str, *forms: tuple[str, ...], bullets: tuple[str, ...] = ()) -> Choice:
    return Choice(name, name, [Candidate((f"art_{at}",), form, "", bullets) for at, form in enumerate(forms)])


@pytest.mark.requirement("BUDGET-01", "BUDGET-02")
def test_defaults() -> None:
    assert (CAPS.total, CAPS.decisions, CAPS.constraints, CAPS.implemented) == (1500, 200, 150, 300)
    assert (CAPS.open_threads, CAPS.pointers) == (150, 100)
    assert (CAPS.goal, CAPS.facts, CAPS.files, CAPS.warnings) == (60, 80, 600, 80)


def test_each_section_gets_its_cap_where_there_is_room_for_all() -> None:
    assert shares(CAPS, 2000, ALL) == {name: getattr(CAPS, name) for name in ALL}


@pytest.mark.requirement("BUDGET-03")
def test_where_there_is_less_room_names_come_first_and_each_other_has_a_line_and_its_share() -> None:
    assert shares(CAPS, 860, ALL) == {
        "goal": 25,
        "facts": 28,
        "files": 550,
        "decisions": 53,
        "constraints": 46,
        "implemented": 58,
        "warnings": 28,
        "open_threads": 37,
        "pointers": 31,
    }


@pytest.mark.requirement("BUDGET-03")
def test_where_there_is_no_room_for_all_lines_the_last_give_way() -> None:
    given = shares(CAPS, 330, ALL)
    assert {name: share for name, share in given.items() if share} == {
        "goal": 20,
        "files": 250,
        "decisions": 30,
        "constraints": 30,
    }
    assert set(shares(CAPS, -5, ALL).values()) == {0}


def test_what_has_nothing_to_say_takes_no_share() -> None:
    assert shares(CAPS, 175, ("decisions", "constraints")) == {"decisions": 97, "constraints": 77}


@pytest.mark.requirement("BUDGET-04")
def test_what_one_section_leaves_is_handed_on_up_to_the_caps() -> None:
    caps = Caps(total=40, constraints=16, decisions=16, open_threads=16)
    choices = {
        "decisions": choice("decisions", *(("one two three four",),) * 8),
        "constraints": choice("constraints", ("one",)),
        "open_threads": choice("open_threads", *(("one two three four",),) * 8),
    }
    given = dict.fromkeys(choices, 12)
    filled = spread(choices, caps, given, 0, fit())
    assert {name: (one.share, one.tokens) for name, one in filled.items()} == {
        "decisions": (16, 14),
        "constraints": (12, 5),
        "open_threads": (16, 14),
    }
    assert sum(one.tokens for one in filled.values()) <= 36


def test_the_longest_form_that_fits_is_taken() -> None:
    long, short = "one two three four five six seven eight", "one two"
    found = fit().section(choice("decisions", (long, short), (long, short)), 100, 18)
    assert [line.text for line in found.lines] == [long, short]
    assert found.tokens == 2 + 10 + 4


def test_bullets_go_before_words_do() -> None:
    candidates = choice("implemented", ("one two three four", "one two"), bullets=("first x", "second x"))
    texts = {
        share: [(line.text, line.bullets) for line in fit().section(candidates, 100, share).lines]
        for share in (14, 13, 11, 10, 9, 8, 7)
    }
    assert texts == {
        14: [("one two three four", ("first x", "second x"))],
        13: [("one two three four", ("first x",))],
        11: [("one two three four", ("first x",))],
        10: [("one two", ("first x",))],
        9: [("one two", ("first x",))],
        8: [("one two", ())],
        7: [],
    }


def test_what_does_not_fit_is_named() -> None:
    given = choice("decisions", ("one two three",), ("one two three four five six seven",))
    section = fit().section(given, 100, 9)
    assert [(one.id, one.title, one.why) for one in missing(given, section)] == [
        ("art_1", "one two three four five six seven", "no room: 7 of 9 tokens are taken")
    ]


def test_a_counter_that_finds_more_in_a_whole_is_believed() -> None:
    class Odd(Words):
        def count(self, text: str) -> int:
            return super().count(text) + 3 * max(0, text.count("\n") - 2)

    found = Fit(Meter(Odd()), is_marking=False).section(choice("decisions", *(("one two",),) * 6), 100, 20)
    assert [len(found.lines), found.tokens] == [3, 20]


def test_lines_of_the_same_artifact_are_told_apart() -> None:
    same = [Candidate(("art_0",), (form,), "") for form in ("one two", "one two three four five six seven")]
    given = Choice("warnings", "warnings", same)
    section = fit().section(given, 100, 9)
    assert [line.text for line in section.lines] == ["one two"]
    assert [one.title for one in missing(given, section)] == ["one two three four five six seven"]


def test_sections_that_are_switched_off_get_nothing() -> None:
    caps = Caps(decisions=0, constraints=0, files=600)
    assert shares(caps, 300, ("decisions", "constraints", "files")) == {
        "decisions": 0,
        "constraints": 0,
        "files": 270,
    }


@pytest.mark.requirement("BUDGET-03")
def test_no_share_is_more_than_its_cap_where_files_leave_more() -> None:
    assert shares(CAPS, 500, ("files", "pointers")) == {"files": 370, "pointers": 100}
