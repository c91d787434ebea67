"""What Gemini CLI, and Qwen Code after it, keep of a tool's result beside what the model is told."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from blackbird.canon.model import ToolResult
from blackbird.canon.natives import details
from blackbird.canon.natives.details import Details
from blackbird.exchange import payloads

#: The shell tool says behind a command's output how it ended.
_EXIT = re.compile(r"^Exit Code: (-?\d{1,10})$", re.MULTILINE)
_FAILED = {"success": False, "error": True, "cancelled": True}


def ended(result: ToolResult, given: Mapping[str, Any]) -> ToolResult:
    """A result with how it ended, and what a user was shown for it."""
    found: Details = {}
    shown = payloads.inner(given, "resultDisplay")
    if path := payloads.text(shown, "filePath") or payloads.text(shown, "fileName"):
        found["path"] = path
    if patch := payloads.text(shown, "fileDiff"):
        found["patch"] = patch
    if thread := payloads.text(given, "agentId"):
        found["thread"] = thread
    status = payloads.text(given, "status")
    if status == "cancelled":
        found["is_interrupted"] = True
    failed = _FAILED.get(status or "", result.error)
    if codes := _EXIT.findall(result.text):
        found["exit_code"] = int(codes[-1])
        failed = failed or int(codes[-1]) != 0
    return details.add(msgspec.structs.replace(result, error=failed), found)
