"""golangci-lint: issues and their count."""

from tests.blackbird.artifacts.outputs.told import Told, told


def test_issues() -> None:
    text = (
        "cart.go:12:2: ineffectual assignment to err (ineffassign)\n\terr = nil\n\t^\n1 issues:\n* ineffassign: 1\n"
    )
    assert told(text) == [
        Told(
            "golangci-lint",
            "lint",
            False,
            "1 issues",
            errors=1,
            names=("cart.go",),
            first_error="cart.go:12:2: ineffectual assignment to err (ineffassign)",
        )
    ]


def test_no_issue() -> None:
    assert told("0 issues.\n") == [Told("golangci-lint", "lint", True, "0 issues", errors=0)]
