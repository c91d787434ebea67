"""The media type of a result."""

import pytest

from blackbox.events.calls import Arguments, Observation, ToolCall
from blackbox.vault.media import media_type


def read(path: str, *, name: str = "read") -> ToolCall:
    return ToolCall(name, Arguments((path,)), None)


@pytest.mark.parametrize(
    ("content", "event", "expected"),
    [
        ("hello", read("notes"), "text/plain"),
        ("import os", read("src/a.py"), "text/x-python"),
        ("import os", read("src/a.py", name="Read"), "text/x-python"),
        ("import os", read("src/a.py", name="shell"), "text/plain"),
        ("x", ToolCall("read", Arguments((), {"file_path": "A.MD"}), None), "text/markdown"),
        ("x", ToolCall("read", Arguments((("a.py", "b.py"),)), None), "text/plain"),
        ('{"a": [1, 2]}', Observation(None, Arguments(), None), "application/json"),
        ("[1, 2]\n", read("x"), "application/json"),
        ("[1, 2", read("x"), "text/plain"),
        ('"a string"', read("x"), "text/plain"),
        ("{" * 100_000, read("x"), "text/plain"),
        ("{\ud800}", read("x"), "text/plain"),
        ("diff --git a/x b/x\n", read("x.py"), "text/x-diff"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n", read("x"), "text/x-diff"),
        ("--- not a diff\n", read("x"), "text/plain"),
    ],
)
def test_what_decides(content: str, event: object, expected: str) -> None:
    assert media_type(content, event) == expected
