"""Reading an output: which reports, in which order, from any text, in time that grows with the text."""

import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.artifacts.outputs import read
from blackbird.artifacts.outputs.page import CLIP, Page
from tests.blackbird.artifacts.outputs.told import SAMPLES, sample, told

LINES = sorted({line for path in SAMPLES.glob("*.txt") for line in sample(path.stem).split("\n")})


def test_nothing_is_recognised_in_other_texts() -> None:
    assert read("") == ()
    assert read("Build succeeded\n") == ()
    assert read("done.\nAll good, 12 things passed my review.\n") == ()
    assert read("total 8\ndrwxr-xr-x 2 dev dev 4096 Jan  1 10:00 src\n") == ()


@pytest.mark.requirement("EXTRACT-03")
def test_each_run_of_a_text_has_its_report_in_order() -> None:
    text = sample("make-check-failed")
    assert [(report.tool, report.ok) for report in read(text)] == [
        ("ruff", True),
        ("mypy", True),
        ("pytest", False),
        ("make", False),
    ]


def test_the_same_tool_twice_is_two_runs() -> None:
    text = sample("pytest-failed") + sample("pytest-passed") + sample("mypy-failed") + sample("mypy-passed")
    assert [(report.tool, report.ok) for report in read(text)] == [
        ("pytest", False),
        ("pytest", True),
        ("mypy", False),
        ("mypy", True),
    ]


@pytest.mark.parametrize(
    "command",
    [
        "cat tests/notes.md",
        "rg -n 'passed in' docs",
        "git show HEAD",
        "cd shop && sed -n 1,40p run.py",
        "git log -p | head",
    ],
)
def test_what_a_file_says_is_no_run(command: str) -> None:
    assert read(sample("pytest-failed"), command) == ()


@pytest.mark.parametrize(
    "command", ["tail -50 /tmp/test.log", "cat build/out.log | tail -5", "cat a.py; pytest", "make"]
)
def test_what_was_kept_of_a_run_is_one(command: str) -> None:
    assert [report.ok for report in read(sample("pytest-failed"), command)] == [False]


def test_a_crash_within_tests_is_told_by_the_tests() -> None:
    text = sample("python-traceback") + sample("pytest-quiet-failed")
    assert [report.tool for report in read(text)] == ["pytest"]


def test_a_crash_before_make_is_told_beside_it() -> None:
    text = sample("python-traceback") + "make: *** [Makefile:3: docs] Error 1\n"
    assert [(one.tool, one.ok, one.first_error) for one in told(text)] == [
        ("python", False, "RuntimeError: no settings"),
        ("make", False, "make: *** [Makefile:3: docs] Error 1"),
    ]


@given(
    st.lists(st.sampled_from(LINES) | st.text(max_size=40), max_size=60).map("\n".join)
    | st.text(st.sampled_from("=_-E FAIL.:*[]()0123%passed in\n\r\t\x1b\"'>|"), max_size=400)
)
def test_any_text_gives_reports_whose_places_are_in_it(text: str) -> None:
    for report in read(text):
        places = [report.span, *((named.at.first, named.at.last) for named in report.failures)]
        assert all(0 <= first <= last <= len(text) for first, last in places)
        for stretch in (*(named.at for named in report.failures), *filter(None, [report.first_error])):
            assert text[stretch.first : stretch.last] == stretch.text
    assert read(text) == read(text)


HOSTILE = {
    "samples": "\n".join(LINES) + "\n",
    "rules": "=" * 200 + " x " + "=" * 200 + "\n",
    "names": "FAILED " + "a.py::x " * 60 + "\n",
    "counts": "1 a, " * 90 + "\n",
    "blanks": "a" + " " * 499 + "\n",
    "colours": "\x1b[1;31m\x1b]0;x",
    "progress": "...... [ 10%]\r",
    "traces": "Traceback (most recent call last):\n",
    "events": '{"Action":"output","Output":"x"}\n',
    "go": "a.go:1:1: (x) (y)\n--- FAIL: T/a/b/c (0.00s)\n",
    "one line": "error: CONFLICT (x): thread 'a' panicked at ",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_steps_grow_with_the_text_and_not_faster(piece: str) -> None:
    """A step is a call of anything. A pattern is a step whose size is bounded, because lines are."""
    size = max(10_000, len(piece))
    once, twice = ((piece * (2 * count * size // len(piece) + 1))[: count * size] for count in (1, 2))
    read(once)  # what is made once and kept
    assert steps(twice) <= 2.3 * steps(once) + 500
    assert max(len(line.text) for line in Page(twice).lines) <= CLIP


def steps(text: str) -> int:
    count = 0

    def note(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        read(text)
    finally:
        sys.setprofile(before)
    return count


def test_a_megabyte_on_one_line_is_read() -> None:
    assert read("E   " * 250_000) == ()
    assert read("\x1b[31m" * 200_000) == ()
