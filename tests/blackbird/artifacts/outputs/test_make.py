"""make and just: which target, and of what kind."""

import pytest

from tests.blackbird.artifacts.outputs.told import told


@pytest.mark.parametrize(
    ("line", "tool", "kind", "names"),
    [
        ("make: *** [Makefile:12: test-unit] Error 1", "make", "test", ("test-unit",)),
        ("make: *** [lint] Error 2", "make", "lint", ("lint",)),
        ("make[1]: *** [src/Makefile:3: a.o] Error 1", "make", "build", ("a.o",)),
        ("Makefile:4: *** missing separator.  Stop.", "make", "build", ()),
        ("error: Recipe `fmt` failed on line 4 with exit code 1", "just", "format", ("fmt",)),
    ],
)
def test_targets(line: str, tool: str, kind: str, names: tuple[str, ...]) -> None:
    assert [(one.tool, one.kind, one.ok, one.names) for one in told(line)] == [(tool, kind, False, names)]


def test_an_error_that_make_ignores_is_none() -> None:
    assert told("make: [Makefile:4: clean] Error 1 (ignored)\n") == []
