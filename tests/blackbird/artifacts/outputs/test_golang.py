"""go: what is cut, what belongs to which run."""

import pytest

from tests.blackbird.artifacts.outputs.told import sample, told


def test_a_package_that_comes_again_is_another_run() -> None:
    found = told(sample("go-failed") + sample("go-failed").replace("FAIL", "ok  "))
    assert found[0].ok is False
    assert len(found) == 2


def test_what_was_cut_behind_may_have_failed() -> None:
    assert [one.ok for one in told(sample("go-verbose-passed"))] == [True]
    assert [one.ok for one in told(sample("go-verbose-passed"), "go test -v ./... | head -40")] == [None]
    assert [one.ok for one in told(sample("go-verbose-passed") + "...\n</persisted-output>\n")] == [None]


def test_tests_without_the_verdict_of_their_package_are_unknown() -> None:
    (found,) = told("=== RUN   TestOne\n--- PASS: TestOne (0.00s)\n=== RUN   TestTwo\n")
    assert (found.ok, found.passed) == (None, 1)


def test_a_build_that_fails_before_tests_is_told_by_them() -> None:
    (found,) = told("# shop/cart\ncart/cart.go:3:8: undefined: x\nFAIL\tshop/cart [build failed]\nFAIL\n")
    assert (found.tool, found.ok, found.first_error) == ("go-test", False, "cart/cart.go:3:8: undefined: x")


def test_vet_beside_tests_that_pass_is_a_run_of_its_own() -> None:
    text = "# shop/cart\n# [shop/cart]\ncart/cart.go:3:8: unreachable code\nok  \tshop/cart\t0.003s\n"
    assert [(one.tool, one.kind, one.ok) for one in told(text)] == [
        ("go-vet", "lint", False),
        ("go-test", "test", True),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "go: cannot find main module, but found .git/config in /home/dev/shop",
        "go: go.mod file not found in current directory or any parent directory; see 'go help modules'",
        "go: updates to go.mod needed; to update it:",
    ],
)
def test_modules_that_are_wrong(line: str) -> None:
    assert [(one.tool, one.kind, one.ok, one.first_error) for one in told(line)] == [("go", "build", False, line)]


def test_downloads_are_no_errors() -> None:
    assert told("go: downloading golang.org/x/text v0.3.0\n") == []


def test_a_line_of_a_file_is_no_error_by_itself() -> None:
    assert told("main.go:12:4: here it is\n") == []
