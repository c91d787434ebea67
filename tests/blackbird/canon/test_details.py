"""What is known of a tool's result beside its text."""

import pytest

from blackbird.canon import details
from blackbird.canon.details import Hunk
from blackbird.canon.model import ToolResult


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Exit code 2\nno such file", 2),
        ("Exit code: 0\nWall time: 1 seconds\nOutput:\nhi", 0),
        ("Chunk ID: 5\nWall time: 0.1 seconds\nProcess exited with code 137\nOutput:\n", 137),
        ("Chunk ID: 5\nWall time: 0.1 seconds\nOutput:\nProcess exited with code 3", None),
        ("it said: Exit code 2", None),
        ("<returncode>4</returncode>\n<output>\nno\n</output>", 4),
        ('{"output": "no", "metadata": {"exit_code": 2, "duration_seconds": 0.1}}', 2),
        ('{"output": "no", "metadata": {"exit_code": true}}', None),
        ('{"output": "no", "metadata": {"exit_', None),
        ("Output: no\nExit Code: 2\nProcess Group PGID: 7", 2),
        ("<untrusted_context>\nOutput: no\nError: x\nExit Code: 5\nSignal: 9\n</untrusted_context>", 5),
        ("Command: ls\nDirectory: (root)\nOutput: a\nExit Code: 0\nSignal: 0\nBackground PIDs: (none)", 0),
        ("Output: it printed\nExit Code: 3\nand went on\nProcess Group PGID: 7", None),
        ("what was read\nExit Code: 3", None),
        ("no\n\nCommand exited with code 6", 6),
        ("Command exited with code 6", 6),
        ("no: Command exited with code 6", None),
        ("no\n<exited with exit code 7>", 7),
        ("no\n<exited with exit code 7>\nand more", None),
        ("", None),
    ],
)
def test_the_exit_code_by_the_words_of_clients(text: str, code: int | None) -> None:
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


@pytest.mark.parametrize(
    ("text", "known", "error", "found"),
    [
        ("Exit code 2", None, True, {"exit_code": 2}),
        ("Exit code: 0", None, False, {"exit_code": 0}),
        ("Exit code 2", True, True, {"exit_code": 2}),
        ("Exit code 2", False, False, {}),
        ("Exit code: 0", False, False, {"exit_code": 0}),
        ("fine", None, None, {}),
    ],
)
def test_a_result_as_its_words_say_that_it_ended(
    text: str, known: bool | None, error: bool | None, found: dict[str, object]
) -> None:
    assert details.ended(ToolResult("c1", text, known)) == ToolResult("c1", text, error, details=found)


def test_no_details_change_nothing() -> None:
    result = ToolResult("c1", "text")

    assert details.add(result, {}) is result
