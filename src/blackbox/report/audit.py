"""The four questions of an audit, answered with line numbers: files, servers, sensitive things, decisions."""

from collections.abc import Iterable, Iterator

import msgspec

from blackbox.events.tools import Access
from blackbox.redaction.redactor import Redactor
from blackbox.report.decisions import Decision, decisions_of
from blackbox.report.hosts import command_of, contacts_of
from blackbox.report.places import Member, Place, family_of
from blackbox.report.sensitive import exposed_in, markers_in, reaches_of
from blackbox.session.calls import Call, Status
from blackbox.session.effects import TouchedFile
from blackbox.session.session import Session
from blackbox.syntax.kinds import Kind

_FAILED = frozenset({Status.ERR, Status.SKIP})


class Deed(msgspec.Struct, frozen=True):
    """A call as evidence: where it stands, which tool, what it did and how that came out."""

    place: Place
    tool: str
    access: str
    status: Status


class FileChange(msgspec.Struct, frozen=True):
    """A file that calls were to change; `is_modified` says whether one of them did not fail.

    `is_unknown`: of none is that known, and of one nobody knows how it came out.
    """

    path: str
    is_modified: bool
    deeds: tuple[Deed, ...]
    is_unknown: bool = False


class HostUse(msgspec.Struct, frozen=True):
    """A server that calls went to; where a command does not name it, what kind of server it is."""

    host: str
    is_named: bool
    is_loopback: bool
    deeds: tuple[Deed, ...]


class McpUse(msgspec.Struct, frozen=True):
    """A method of an MCP server, and the calls to it."""

    server: str
    method: str
    calls: int
    failed: int
    places: tuple[Place, ...]


class SensitiveUse(msgspec.Struct, frozen=True):
    """A sensitive path, why it is one, and how it was touched."""

    path: str
    why: str
    deeds: tuple[Deed, ...]


class Tally(msgspec.Struct, frozen=True):
    """Redactions or secrets of one kind: how many, and on which lines."""

    kind: str
    count: int
    places: tuple[Place, ...]


class Unread(msgspec.Struct, frozen=True):
    """A part or a sub-agent's log that belongs to the session and could not be read."""

    path: str
    reason: str
    place: Place


class Audit(msgspec.Struct, frozen=True):
    """What a session did, its rotated parts and its sub-agents' logs included."""

    session: str | None
    logs: int
    files: tuple[FileChange, ...]
    hosts: tuple[HostUse, ...]
    mcp: tuple[McpUse, ...]
    sensitive: tuple[SensitiveUse, ...]
    redactions: tuple[Tally, ...]
    secrets: tuple[Tally, ...]
    decisions: tuple[Decision, ...]
    #: Calls whose commands may have changed files in ways that the log does not spell out.
    commands: tuple[Deed, ...]
    #: Calls of tools that are not known and were given paths, and edits that do not say of what.
    unclear: tuple[Deed, ...]
    unread: tuple[Unread, ...]


def audit(session: Session, redactor: Redactor, others: Iterable[Member] = ()) -> Audit:
    """Answer the four questions. Whatever is quoted from the log has its secrets hidden.

    `others` are sub-agents of the session that no line of it leads to.
    """
    family = family_of(session, others)
    return Audit(
        session=session.id,
        logs=sum(len(member.session.documents) for member in family),
        files=_files(family, redactor),
        hosts=_hosts(family),
        mcp=_mcp(family),
        sensitive=_sensitive(family, redactor),
        redactions=_tally(
            (one.kind, member.place(one.line)) for member in family for one in markers_in(member.session.lines)
        ),
        secrets=_tally(
            (one.kind, member.place(one.line))
            for member in family
            for one in exposed_in(member.session.lines, redactor)
        ),
        decisions=tuple(_hidden(one, redactor) for member in family for one in decisions_of(member)),
        commands=tuple(
            _deed(member, call, "command")
            for member in family
            for call in _calls(member.session)
            if command_of(call) is not None
        ),
        unclear=tuple(
            _deed(member, call, "call")
            for member in family
            for call in member.session.unclear_calls
            if command_of(call) is None and not call.line.is_inherited
        ),
        unread=tuple(
            Unread(redactor.redact(missing.path).text, missing.reason, member.place(missing.line))
            for member in family
            for missing in (*member.session.missing_parts, *member.session.missing_subagents)
        ),
    )


def _files(family: list[Member], redactor: Redactor) -> tuple[FileChange, ...]:
    deeds: dict[str, list[Deed]] = {}
    modified: set[str] = set()
    unknown: set[str] = set()
    for member in family:
        for file in _touched(member.session):
            if not file.changes:
                continue
            path = redactor.redact(file.path).text
            deeds.setdefault(path, []).extend(_deed(member, call, access.value) for access, call in file.changes)
            if file.is_modified:
                modified.add(path)
            if file.is_unknown:
                unknown.add(path)
    return tuple(
        FileChange(path, path in modified, tuple(found), path in unknown - modified) for path, found in deeds.items()
    )


def _hosts(family: list[Member]) -> tuple[HostUse, ...]:
    deeds: dict[tuple[str, bool, bool], list[Deed]] = {}
    for member in family:
        for call in _calls(member.session):
            for contact in contacts_of(call) if call.kind is not Kind.SUBAGENT else ():
                key = (contact.name, contact.is_named, contact.is_loopback)
                deeds.setdefault(key, []).append(_deed(member, call, "call"))
    return tuple(HostUse(*key, tuple(found)) for key, found in deeds.items())


def _mcp(family: list[Member]) -> tuple[McpUse, ...]:
    """`c:server.method`, tools whose name says that they are one (`mcp__server__method`), and memory of a server."""
    found: dict[tuple[str, str], list[Deed]] = {}
    for member in family:
        for call in (*_calls(member.session), *_recalls(member.session)):
            server, method = _mcp_name(call)
            if server:
                found.setdefault((server, method), []).append(_deed(member, call, "call"))
    return tuple(
        McpUse(
            server,
            method,
            len(deeds),
            sum(deed.status in _FAILED for deed in deeds),
            tuple(deed.place for deed in deeds),
        )
        for (server, method), deeds in sorted(found.items())
    )


def _mcp_name(call: Call) -> tuple[str, str]:
    if call.kind is Kind.MCP:
        server, _, method = call.name.partition(".")
        return server, method
    if call.kind is Kind.TOOL and call.name.startswith("mcp__"):
        server, _, method = call.name.removeprefix("mcp__").partition("__")
        return server, method
    return call.line.meta.mcp if call.kind is Kind.RECALL else ("", "")


def _sensitive(family: list[Member], redactor: Redactor) -> tuple[SensitiveUse, ...]:
    deeds: dict[tuple[str, str], list[Deed]] = {}
    for member in family:
        session = member.session
        for reach in reaches_of(_touched(session), _calls(session)):
            key = (redactor.redact(reach.path).text, reach.why)
            deeds.setdefault(key, []).append(_deed(member, reach.call, reach.access))
    return tuple(SensitiveUse(*key, tuple(found)) for key, found in deeds.items())


def _calls(session: Session) -> Iterator[Call]:
    """The calls of the session itself: what an earlier one did, and is told here for what follows, is its own."""
    return (call for call in session.calls if not call.line.is_inherited)


def _recalls(session: Session) -> Iterator[Call]:
    """Likewise what it asked of a memory."""
    return (recalled.call for recalled in session.recalls if not recalled.call.line.is_inherited)


def _touched(session: Session) -> Iterator[TouchedFile]:
    """The files that those touched."""
    for file in session.files.values():
        touches = tuple(touch for touch in file.touches if not touch.call.line.is_inherited)
        if touches:
            yield TouchedFile(file.path, touches)


def _tally(found: Iterable[tuple[str, Place]]) -> tuple[Tally, ...]:
    places: dict[str, list[Place]] = {}
    for kind, place in found:
        places.setdefault(kind, []).append(place)
    return tuple(
        Tally(kind, len(every), tuple(dict.fromkeys(every)))
        for kind, every in sorted(places.items(), key=lambda item: (-len(item[1]), item[0]))
    )


def _hidden(decision: Decision, redactor: Redactor) -> Decision:
    def hide(text: str | None) -> str | None:
        return redactor.redact(text).text if text else text

    return msgspec.structs.replace(
        decision,
        subject=redactor.redact(decision.subject).text,
        outcome=hide(decision.outcome),
        reason=hide(decision.reason),
    )


def _deed(member: Member, call: Call, access: str) -> Deed:
    # `p:write` is no tool that has the name "write".
    tool = call.name if access != Access.PLAN.value else f"plan {call.name}"
    return Deed(member.place(call.line), tool, access, call.status)
