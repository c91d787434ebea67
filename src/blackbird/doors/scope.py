"""Whose call it is: by its arguments, by the ids that a client sends along, or by the environment of the process."""

from collections.abc import Mapping
from typing import Any

import msgspec

#: The names under which ids travel: in `_meta` of a call, and as fields of an HTTP request.
CARRIERS = {"session": "x-blackbird-session", "task": "x-blackbird-task", "run": "x-blackbird-run"}
_VARIABLES = {"session": "BLACKBIRD_SESSION", "task": "BLACKBIRD_TASK", "run": "BLACKBIRD_RUN"}
#: What Codex sends with each call: a JSON object, or the text of one.
_CODEX = "x-codex-turn-metadata"
_CODEX_SESSION = ("session_id", "session")
_LONGEST_ID = 200


class Asker(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks. Without a session, it is the project of the working directory that counts."""

    session: str | None = None
    task: str | None = None
    run: str | None = None


def asker(meta: Mapping[str, Any], variables: Mapping[str, str]) -> Asker:
    """Who asks, as far as the call's own arguments do not say it.

    Ids of ours that came with the call go first, for one server may have many clients. What started this very process
    for one run goes before a client's own id, which is another name of the same session.
    """
    carried = _ids(CARRIERS, meta)
    if carried.session is not None:
        return carried
    stated = _ids(_VARIABLES, variables)
    return stated if stated.session is not None else Asker(session=_codex_session(meta.get(_CODEX)))


def _ids(names: Mapping[str, str], values: Mapping[str, Any]) -> Asker:
    return Asker(**{key: _id(values.get(name)) for key, name in names.items()})


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
