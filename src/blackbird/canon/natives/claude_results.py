"""What Claude Code keeps of a tool's result for itself, beside the words that the model gets."""

import msgspec

from blackbird.canon import details, places
from blackbird.canon.model import ToolResult, Turn
from blackbird.canon.natives.jsonl import is_given

_REJECTED = "User rejected tool use"


class _File(msgspec.Struct, rename="camel"):
    file_path: str | None = None


class Outcome(msgspec.Struct, rename="camel"):
    """What the client keeps of a tool's result for itself."""

    stdout: str | None = None
    stderr: str | None = None
    interrupted: bool | None = None
    file_path: str | None = None
    structured_patch: list[details.Hunk] | None = None
    file: _File | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    duration_ms: int | float | None = None
    total_duration_ms: int | None = None


_OUTCOMES = msgspec.json.Decoder(Outcome)


def read_outcome(value: msgspec.Raw) -> Outcome | None:
    """What it keeps, if it is more than a text."""
    return places.decode(_OUTCOMES, value) if is_given(value) else None


def details_of(outcome: Outcome | None, raw: msgspec.Raw) -> details.Details:
    """What the client keeps of a result beside its text."""
    found: details.Details = {}
    if outcome is None:
        return {"is_rejected": True} if places.read_any(raw) == _REJECTED else {}
    path = outcome.file_path or (outcome.file.file_path if outcome.file is not None else None)
    if path:
        found["path"] = path
    if path and outcome.structured_patch:
        found["patch"] = details.unified(path, outcome.structured_patch)
    if outcome.interrupted:
        found["is_interrupted"] = True
    if outcome.agent_id:
        found["thread"] = outcome.agent_id
    spent = outcome.duration_ms if outcome.duration_ms is not None else outcome.total_duration_ms
    if spent is not None:
        found["duration_ms"] = int(spent)
    return found | details.streams(outcome.stdout, outcome.stderr)


def detailed(turn: Turn, result: ToolResult, found: details.Details) -> Turn:
    """The turn with these details of one of its results."""
    if not found:
        return turn
    parts = tuple(details.add(result, found) if part is result else part for part in turn.parts)
    return msgspec.structs.replace(turn, parts=parts)
