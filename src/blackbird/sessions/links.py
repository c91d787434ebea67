"""What a client's own ids say of a request: which session, which thread of it, and whose sub-agent that is."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from blackbird.exchange import payloads

Headers = Mapping[str, str]

#: A name that the recorder gave to an id in `client`, for each field it may come from.
_STORED = {
    "x-claude-code-session-id": "claude_code_session",
    "x-claude-code-agent-id": "claude_code_agent",
    "session-id": "codex_session",
    "thread-id": "codex_thread",
    "x-codex-parent-thread-id": "codex_parent_thread",
    "x-openai-subagent": "codex_subagent",
    "x-session-id": "opencode_session",
    "x-parent-session-id": "opencode_parent_session",
    "x-initiator": "initiator",
}
_REDACTED = re.compile(r"\[redacted:[^\]]*\]")
_PRODUCT = re.compile(r"([A-Za-z][\w.+-]*)(?:/([\w.+-]+))?(?: (\d[\w.+-]*))?")
_LONGEST_NAME = 40


class Scheme(msgspec.Struct, frozen=True):
    """How one client spells its ids: the fields that mean each, and keys of a field that holds JSON."""

    client: str
    session: str
    thread: str | None = None
    parent: str | None = None
    kind: str | None = None
    #: A sub-agent has a session of its own, and names the one it belongs to in `parent`.
    nests_sessions: bool = False
    #: A thread without a field for its parent belongs to the session's first.
    is_flat: bool = False
    metadata: str | None = None
    metadata_parent: str | None = None
    metadata_kind: str | None = None
    metadata_turn: str | None = None


#: The first whose session field is there counts: opencode sends `session-id`, too.
SCHEMES = (
    Scheme("Claude Code", "x-claude-code-session-id", thread="x-claude-code-agent-id", is_flat=True),
    Scheme("opencode", "x-session-id", thread="x-session-id", parent="x-parent-session-id", nests_sessions=True),
    Scheme(
        "Codex",
        "session-id",
        thread="thread-id",
        parent="x-codex-parent-thread-id",
        kind="x-openai-subagent",
        metadata="x-codex-turn-metadata",
        metadata_parent="parent_thread_id",
        metadata_kind="subagent_kind",
        metadata_turn="turn_id",
    ),
)
#: Clients by the first word of their `user-agent`; one that is not here is called by that word.
_TITLES = {
    "claude-cli": "Claude Code",
    "codex_cli_rs": "Codex",
    "codex_exec": "Codex",
    "codex-tui": "Codex",
    "geminicli": "Gemini CLI",
    "geminicli-tui": "Gemini CLI",
    "qwencode": "Qwen Code",
}


class Agent(msgspec.Struct, frozen=True):
    """Who sent a request, by its own word."""

    name: str
    version: str | None = None


class Links(msgspec.Struct, frozen=True):
    """What the ids of one request say. What is missing, or was replaced as a secret, links nothing."""

    client: str | None = None
    session: str | None = None
    parent_session: str | None = None
    thread: str | None = None
    parent: str | None = None
    kind: str | None = None
    turn: str | None = None
    #: Whether a user's word or the agent's own made it send this, if the client tells.
    initiator: str | None = None


class Sender(msgspec.Struct, frozen=True):
    """What a `request.start` says of its sender."""

    links: Links
    agent: Agent | None


def sender_of(fields: Mapping[str, Any]) -> Sender:
    """The links of a request, and who sent it."""
    return sender(payloads.headers(fields), payloads.inner(fields, "client"))


def sender(pairs: Sequence[tuple[str, str]], stored: Mapping[str, Any]) -> Sender:
    """The same, from the header fields and the ids that the recorder noted."""
    headers = {name.lower(): value for name, value in reversed(pairs)}
    links = _links(stored, headers)
    return Sender(links, _agent(_known(headers.get("user-agent")), links.client))


def _links(stored: Mapping[str, Any], headers: Headers) -> Links:
    initiator = _value(stored, headers, "x-initiator")
    for scheme in SCHEMES:
        session = _value(stored, headers, scheme.session)
        if session is not None:
            return _read(scheme, session, stored, headers, initiator)
    return Links(initiator=initiator)


def _agent(user_agent: str | None, client: str | None) -> Agent | None:
    """The client by its `user-agent`; if that says nothing, by the ids it sent."""
    product = _PRODUCT.match(user_agent or "")
    if product is None:
        return Agent(client) if client is not None else None
    name, version, behind = product.groups()
    if version is not None and not version[0].isdigit():
        # The SDKs' way: `OpenAI/Python 1.2.3`.
        name, version = f"{name}/{version}", behind
    return Agent(_TITLES.get(name.lower(), name[:_LONGEST_NAME]), version)


def _read(scheme: Scheme, session: str, stored: Mapping[str, Any], headers: Headers, initiator: str | None) -> Links:
    def value(field: str | None) -> str | None:
        return _value(stored, headers, field) if field is not None else None

    metadata = _json(value(scheme.metadata))

    def inside(key: str | None) -> str | None:
        return _known(payloads.text(metadata, key)) if key is not None else None

    thread = value(scheme.thread)
    parent = value(scheme.parent) or inside(scheme.metadata_parent)
    kind = value(scheme.kind) or inside(scheme.metadata_kind)
    if scheme.is_flat and thread is not None:
        parent, kind = session, "sub-agent"
    elif parent is not None and kind is None:
        kind = "sub-agent"
    return Links(
        client=scheme.client,
        session=session,
        parent_session=parent if scheme.nests_sessions else None,
        thread=thread or session,
        parent=parent if parent != (thread or session) else None,
        kind=kind,
        turn=inside(scheme.metadata_turn),
        initiator=initiator,
    )


def _value(stored: Mapping[str, Any], headers: Headers, field: str) -> str | None:
    """An id as the recorder noted it, else as the field has it."""
    found = payloads.text(stored, _STORED[field]) if field in _STORED else None
    return _known(headers.get(field) if found is None else found)


def _known(value: str | None) -> str | None:
    """A value that is there; the mark of a secret that was replaced is the same for all, and so no id."""
    return value if value and not _REDACTED.search(value) else None


def _json(text: str | None) -> Mapping[str, Any]:
    try:
        value = msgspec.json.decode(text or "{}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
