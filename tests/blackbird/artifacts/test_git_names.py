"""File names as git spells them."""

import pytest

from blackbird.artifacts import git_names


@pytest.mark.parametrize(
    ("spelled", "name"),
    [
        ("plain.txt", "plain.txt"),
        ('"with \\"quotes\\".txt"', 'with "quotes".txt'),
        ('"gr\\303\\274n.txt"', "grün.txt"),
        ('"a\\tb"', "a\tb"),
        ('"', '"'),
    ],
)
def test_quotes(spelled: str, name: str) -> None:
    assert git_names.unquoted(spelled) == name


@pytest.mark.parametrize(
    ("names", "name"),
    [
        ("a/x.py b/x.py", "x.py"),
        ("a/with b/x.py b/with b/x.py", "with b/x.py"),
        ("x.py x.py", "x.py"),
        ("a/old.py b/new.py", "new.py"),
        ('"a/gr\\303\\274n" "b/gr\\303\\274n"', "grün"),
    ],
)
def test_the_head_of_a_diff(names: str, name: str) -> None:
    assert git_names.same_name(names) == name


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.py", (None, "a.py")),
        ("a.py => b.py", ("a.py", "b.py")),
        ("src/{a => b}/c.py", ("src/a/c.py", "src/b/c.py")),
        ("src/{ => b}/c.py", ("src/c.py", "src/b/c.py")),
    ],
)
def test_arrows(path: str, expected: tuple[str | None, str]) -> None:
    assert git_names.arrow(path) == expected
