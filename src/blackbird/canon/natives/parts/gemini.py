"""What Gemini CLI, and Qwen Code after it, keep of a tool's result beside what the model is told."""

from collections.abc import Mapping
from typing import Any

import msgspec

from blackbird.canon import details
from blackbird.canon.details import Details
from blackbird.canon.model import ToolResult
from blackbird.exchange import payloads

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
    # A command that failed is a success of the tool that ran it.
    failed = result.error or _FAILED.get(status or "", result.error)
    return details.add(msgspec.structs.replace(result, error=failed), found)
