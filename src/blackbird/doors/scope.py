"""Whose call it is: by its arguments, by the ids that a client sends along, or by the environment of the process."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from blackbird.recall.whose import Whose

#: The names under which ids travel: in `_meta` of a call, and as fields of an HTTP request.
CARRIERS = {"session": "x-blackbird-session", "task": "x-blackbird-task", "run": "x-blackbird-run"}
#: What Codex sends with each call: a JSON object, or the text of one.
_CODEX = "x-codex-turn-metadata"
_CODEX_SESSION = ("session_id", "session")
_LONGEST_ID = 200


def asker(meta: Mapping[str, Any], variables: Mapping[str, str], is_known: Callable[[str], bool]) -> Whose:
    """Who asks, as far as the call's own arguments do not say it.

    Ids of ours that came with the call go first, for one server may have many clients. What started this very process
    for one run goes before a client's own id, which is another name of the same session, and counts only if the
    memory knows a session by it.
    """
    carried = Whose(**{key: _id(meta.get(name)) for key, name in CARRIERS.items()})
    stated = Whose.of(variables)
    for whose in (carried, stated):
        if whose.session is not None:
            return whose
    session = _codex_session(meta.get(_CODEX))
    return Whose(session=session) if session is not None and is_known(session) else stated


def _id(value: Any) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= _LONGEST_ID else None


def _codex_session(value: Any) -> str | None:
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return None
    if not isinstance(value, Mapping):
        return None
    return next((found for key in _CODEX_SESSION if (found := _id(value.get(key))) is not None), None)
