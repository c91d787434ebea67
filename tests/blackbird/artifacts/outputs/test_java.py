"""Gradle, in its short form."""

from tests.blackbird.artifacts.outputs.told import Told, told

FAILED = """\
> Task :compileJava UP-TO-DATE
> Task :test FAILED

CartTest > total() FAILED
    org.opentest4j.AssertionFailedError at CartTest.java:12

3 tests completed, 1 failed, 1 skipped

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':test'.

BUILD FAILED in 3s
2 actionable tasks: 1 executed, 1 up-to-date
"""


def test_gradle_with_a_test_that_fails() -> None:
    assert told(FAILED) == [
        Told(
            "gradle",
            "test",
            False,
            "BUILD FAILED in 3s",
            passed=1,
            failed=1,
            skipped=1,
            errors=0,
            names=(":test", "CartTest > total()"),
            first_error="org.opentest4j.AssertionFailedError at CartTest.java:12",
        )
    ]


def test_gradle_that_went_well() -> None:
    assert told("BUILD SUCCESSFUL in 1s\n") == [Told("gradle", "build", True, "BUILD SUCCESSFUL in 1s", errors=0)]


def test_what_went_wrong_is_the_error_of_a_build() -> None:
    text = "* What went wrong:\nCould not resolve all files for configuration ':x'.\n\nBUILD FAILED in 2s\n"
    (found,) = told(text)
    assert (found.kind, found.first_error) == ("build", "Could not resolve all files for configuration ':x'.")
