"""What the lines of Codex say of a thread: who started it, what it was told, whose words and which turns it holds."""

from typing import Any

from blackbird.canon import places
from blackbird.canon.model import Origin, Part, Role, Text, Turn
from blackbird.canon.natives.jsonl import object_of, text_of
from blackbird.canon.seen import Slice

_PROVENANCE = b"internal_chat_message_metadata_passthrough"


def spawned(source: object) -> dict[str, Any]:
    """What a thread says of the one that it is a sub-agent of; `kind` is why it was started."""
    inner = source.get("subagent") if isinstance(source, dict) else None
    if isinstance(inner, str):
        return {"kind": inner}
    if not isinstance(inner, dict) or not inner:
        return {}
    kind, fields = next(iter(inner.items()))
    return (
        {"kind": kind, **fields}
        if isinstance(fields, dict)
        else {"kind": fields if isinstance(fields, str) else kind}
    )


def instructions(payload: Slice) -> tuple[Part, ...]:
    """The system prompt that the first line holds."""
    fields = places.members(payload)
    literal = fields.get("base_instructions") or fields.get("instructions")
    if literal is not None and literal.data.startswith(b"{"):
        literal = places.members(literal).get("text")
    text, spans = places.read_literal(literal) if literal is not None else ("", ())
    return (Text(text, spans),) if text else ()


def origin_of(item: Slice, turn: Turn) -> Origin | None:
    """Whose words a message holds, if the log says where each of its texts comes from."""
    if turn.role is not Role.USER or _PROVENANCE not in item.data:
        return None
    found = places.members(item).get(_PROVENANCE.decode())
    listed = places.read_object(found.data).get("content_item_metadata") if found is not None else None
    if not isinstance(listed, list) or not listed:
        return None
    known = [object_of(item, "provenance") for item in listed if isinstance(item, dict)]
    kinds = {"hook" if item.get("hook") is True else text_of(item, "type") for item in known}
    if kinds == {"user"}:
        return Origin.USER
    return Origin.CLIENT if kinds and not kinds & {"user", "hook", ""} else None


class Rewinds:
    """Knows where each of the user's turns began: the log goes on from there when turns are taken back."""

    def __init__(self) -> None:
        self._begun: list[str | None] = []
        self._last: str | None = None
        self._before_user: str | None = None
        self._from: str | None = None

    def item(self, key: str, role: Role) -> str | None:
        """The next item; what it follows, if that is not the item before."""
        follows, self._from = self._from, None
        if role is Role.USER:
            self._before_user = follows or self._last
        self._last = key
        return follows

    def begin(self) -> None:
        """The last item of the user's was a turn of theirs."""
        self._begun.append(self._before_user)

    def take_back(self, turns: object) -> None:
        """The user took back so many of their turns."""
        if isinstance(turns, int) and 0 < turns <= len(self._begun):
            self._from = self._begun[-turns]
            del self._begun[-turns:]
