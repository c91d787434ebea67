"""How the commands, patches and tools of Codex ended: what its events say of a call beside its result."""

from typing import Any

import msgspec

from blackbird.canon import details
from blackbird.canon.model import ToolResult
from blackbird.canon.natives.jsonl import object_of, text_of
from blackbird.canon.seen import Entry

_ABORTED = "aborted by user"
#: How far into a result the client's own words may stand.
_HEAD = 200


class Ended(msgspec.Struct, frozen=True):
    """How a call ended; `has_failed` is None if that does not follow."""

    told: details.Details = {}
    has_failed: bool | None = None
    #: The entry of the event, to tell it by if no result comes.
    entry: Entry | None = None


def with_end(result: ToolResult, ended: Ended) -> ToolResult:
    """A result with what the events before it say."""
    found = dict(ended.told)
    if _ABORTED in result.text[:_HEAD]:
        found["is_interrupted"] = True
    result = details.add(result, found)
    if ended.has_failed is None or result.error:
        return result
    return msgspec.structs.replace(result, error=ended.has_failed)


def read_end(raw: dict[str, Any]) -> Ended:
    """How a command, a patch or a tool ended, by its event."""
    found: details.Details = {}
    code, changes, spent = raw.get("exit_code"), object_of(raw, "changes"), object_of(raw, "duration")
    if isinstance(code, int):
        found["exit_code"] = code
    found |= details.streams(text_of(raw, "stdout"), text_of(raw, "stderr"))
    if isinstance(spent.get("secs"), int) and isinstance(spent.get("nanos"), int):
        found["duration_ms"] = spent["secs"] * 1000 + spent["nanos"] // 1_000_000
    if changes:
        found["path"] = ", ".join(sorted(changes))
        found["patch"] = "".join(_patch(path, object_of(changes, path)) for path in sorted(changes))
    return Ended(found, _has_failed(raw))


def _patch(path: str, change: dict[str, Any]) -> str:
    """The change of one file as a unified diff; of a new or deleted one, all its lines."""
    # Older versions write {"update": {…}}, newer ones {"type": "update", …}.
    kind = text_of(change, "type") or next((name for name in ("add", "delete", "update") if name in change), "")
    fields = object_of(change, kind) or change
    head = f"--- {path}\n+++ {text_of(fields, 'move_path') or path}\n"
    if kind == "update":
        return head + text_of(fields, "unified_diff")
    lines = text_of(fields, "content").splitlines()
    sign, span = ("+", f"-0,0 +1,{len(lines)}") if kind == "add" else ("-", f"-1,{len(lines)} +0,0")
    return head + f"@@ {span} @@\n" + "".join(f"{sign}{line}\n" for line in lines)


def _has_failed(raw: dict[str, Any]) -> bool | None:
    if isinstance(raw.get("success"), bool):
        return not raw["success"]
    result = object_of(raw, "result")
    if result:
        inner = object_of(result, "Ok") or result
        return "Err" in result or inner.get("isError") is True or inner.get("is_error") is True
    return True if raw.get("status") in ("failed", "declined") else None
