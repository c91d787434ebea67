"""pytest, cut at either end or mixed with others."""

import pytest

from tests.blackbird.artifacts.outputs.told import Told, sample, told


def lines(name: str, first: int | None = None, last: int | None = None) -> str:
    return "\n".join(sample(name).split("\n")[first:last])


def test_the_last_lines_are_enough() -> None:
    assert told(lines("pytest-failed", -4)) == [
        Told(
            "pytest",
            "test",
            False,
            "1 failed, 6 passed, 1 skipped, 1 xfailed, 1 error",
            passed=6,
            failed=1,
            skipped=1,
            errors=1,
            names=("tests/test_cart.py::test_total", "tests/test_cart.py::test_database"),
            first_error="FAILED tests/test_cart.py::test_total - assert 2 == 3",
        )
    ]


def test_without_its_end_a_run_that_failed_failed() -> None:
    (found,) = told(lines("pytest-failed", None, 18))
    assert (found.ok, found.passed, found.first_error) == (False, None, "E       RuntimeError: no database")


def test_without_its_end_a_run_that_went_well_so_far_is_unknown() -> None:
    (found,) = told(lines("pytest-passed", None, 6))
    assert (found.ok, found.passed, found.summary) == (None, None, "")


def test_only_dots_are_no_proof() -> None:
    assert [one.ok for one in told(sample("pytest-qq-passed"))] == [None]


@pytest.mark.parametrize(
    ("line", "ok"),
    [
        ("3 passed in 0.12s", True),
        ("3 passed, 2 warnings in 61.02s (0:01:01)", True),
        ("=== 1 failed, 2 passed, 3 deselected, 1 rerun in 4.00s ===", False),
        ("5 skipped in 0.01s", None),
        ("1 xfailed in 0.01s", True),
        ("===== no tests ran in 0.01s =====", None),
    ],
)
def test_last_lines(line: str, ok: bool | None) -> None:
    assert [one.ok for one in told(line)] == [ok]


@pytest.mark.parametrize(
    "line",
    ["3 apples in 2s", "12 passed the exam in 2019", "FAILED to open x", "E   ", "collected works", "0 passed"],
)
def test_other_lines(line: str) -> None:
    assert told(line) == []


def test_names_with_blanks_in_parameters() -> None:
    (found,) = told("FAILED tests/a.py::test_b[x y] - ValueError: no\n1 failed in 0.1s\n")
    assert found.names == ("tests/a.py::test_b[x y]",)
