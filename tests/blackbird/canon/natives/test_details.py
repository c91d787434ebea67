"""What logs add to a tool's result."""

import pytest

from blackbird.canon.model import ToolResult
from blackbird.canon.natives import details
from blackbird.canon.natives.details import Hunk


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Exit code 2\nno such file", 2),
        ("Exit code: 0\nWall time: 1 seconds\nOutput:\nhi", 0),
        ("Chunk ID: 5\nWall time: 0.1 seconds\nProcess exited with code 137\nOutput:\n", 137),
        ("Chunk ID: 5\nWall time: 0.1 seconds\nOutput:\nProcess exited with code 3", None),
        ("it said: Exit code 2", None),
        ("", None),
    ],
)
def test_the_exit_code_stands_before_the_output(text: str, code: int | None) -> None:
    assert details.exit_code(text) == code


def test_a_unified_diff_of_several_hunks() -> None:
    hunks = [
        Hunk(old_start=1, old_lines=1, new_start=1, new_lines=2, lines=["-a", "+b", "+c"]),
        Hunk(old_start=9, old_lines=1, new_start=10, new_lines=0, lines=["-z"]),
    ]

    assert details.unified("x.py", hunks) == (
        "--- x.py\n+++ x.py\n@@ -1,1 +1,2 @@\n-a\n+b\n+c\n@@ -9,1 +10,0 @@\n-z\n"
    )


def test_both_outputs_are_kept_if_there_is_a_second() -> None:
    assert details.streams("out", "") == details.streams("out", None) == {}
    assert details.streams(None, "warned") == {"stdout": "", "stderr": "warned"}


@pytest.mark.parametrize(
    ("known", "code", "error"), [(None, 0, False), (None, 1, True), (False, 1, False), (True, 0, True)]
)
def test_an_exit_code_says_whether_it_failed_where_no_one_did(known: bool | None, code: int, error: bool) -> None:
    result = details.add(ToolResult("c1", "text", known, details={"path": "a"}), {"exit_code": code})

    assert result == ToolResult("c1", "text", error, details={"path": "a", "exit_code": code})


def test_no_details_change_nothing() -> None:
    result = ToolResult("c1", "text")

    assert details.add(result, {}) is result
