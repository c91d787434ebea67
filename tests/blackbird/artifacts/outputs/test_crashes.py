"""Programs that died, and those that only told of an error."""

import pytest

from tests.blackbird.artifacts.outputs.told import sample, told


@pytest.mark.parametrize("name", ["python-traceback", "python-syntax", "cargo-run-panic"])
def test_what_was_not_the_last_thing_may_have_been_survived(name: str) -> None:
    assert told(sample(name))[-1].ok is False
    assert told(sample(name) + "\nserver goes on\n")[-1].ok is None


def test_of_a_chain_the_last_exception_counts() -> None:
    assert [one.first_error for one in told(sample("python-traceback"))] == ["RuntimeError: no settings"]


def test_a_thread_that_panics_is_not_the_program() -> None:
    (found,) = told("thread 'worker' panicked at src/a.rs:1:1:\nboom\n")
    assert (found.tool, found.ok) == ("rust", None)


def test_an_error_that_node_only_printed_is_unknown() -> None:
    (found,) = told("TypeError: no price\n    at go (/home/dev/shop/a.js:1:2)\n")
    assert (found.tool, found.ok) == ("node", None)


@pytest.mark.parametrize(
    "line",
    [
        "bash: line 1: tsc: command not found",
        "/bin/sh: 1: tsc: not found",
        "zsh: command not found: tsc",
        "(eval):1: command not found: tsc",
        "bash: ./run.sh: Permission denied",
        "Segmentation fault (core dumped)",
    ],
)
def test_shells_that_find_nothing(line: str) -> None:
    assert [(one.tool, one.kind, one.ok, one.first_error) for one in told(line)] == [("shell", "run", False, line)]


def test_java() -> None:
    text = 'Exception in thread "main" java.lang.IllegalStateException: no price\n\tat Cart.main(Cart.java:3)\n'
    (found,) = told(text)
    assert (found.tool, found.ok) == ("java", False)
