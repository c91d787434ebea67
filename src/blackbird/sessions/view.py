"""Sessions as objects for programs, and in short words for people."""

import re
from collections import Counter
from typing import Any

from blackbird.exchange import payloads
from blackbird.exchange.clock import to_rfc3339
from blackbird.exchange.exchange import Exchange
from blackbird.sessions.detail import Detail, Run
from blackbird.sessions.imported import Log
from blackbird.sessions.rows import CLAIMED, CLIENT, IMPORTED, NONE, UNATTRIBUTED_NAME, Row
from blackbird.sessions.tally import Tally
from blackbird.sessions.threads import Thread
from blackbird.trace.ids import CHARACTERS

SUMMARY_SCHEMA = "session-summary/1"
SESSION_SCHEMA = "session/1"

#: What to say of a session that no run was registered for.
MARKS = {CLAIMED: "unregistered", CLIENT: "client's own", IMPORTED: "imported"}
#: What a path has and a digest has not.
_FOLDER_MARK = re.compile(r"[/\\]")
_SHORT_RUN = 6
_SHORT_SESSION = 12


def describe_row(row: Row) -> dict[str, Any]:
    """What a list of sessions says of one."""
    return {
        "schema": SUMMARY_SCHEMA,
        "session": row.filing.session,
        "attribution": row.filing.attribution,
        "began": _time(row.began),
        "last": _time(row.last),
        "agents": row.agents,
        "tasks": list(row.tasks),
        "runs": list(row.runs),
        "requests": row.tally.calls,
        "request_bytes": row.tally.request_bytes,
        "response_bytes": row.tally.response_bytes,
        "errors": row.tally.failures,
        "goal": row.goal,
        "title": row.title,
        "imported": {
            "logs": len(row.logs),
            "lines": sum(log.lines for log in row.logs),
            "messages": messages_of(row),
        },
        "folder": folder_of(row),
    }


def describe_detail(detail: Detail) -> dict[str, Any]:
    """All that is known of one session."""
    row = detail.row
    return {
        **describe_row(row),
        "schema": SESSION_SCHEMA,
        "tasks": list(detail.tasks),
        "runs": [_describe_run(run) for run in detail.runs.values()],
        **_describe_tally(detail.tally),
        "threads": [_describe_thread(thread) for thread in detail.threads.tree()],
        "logs": [_describe_log(log) for log in row.logs],
    }


def _describe_log(log: Log) -> dict[str, Any]:
    return {
        "source": log.source,
        "client": log.client or log.format,
        "client_session": log.session,
        "thread": log.thread,
        "path": log.path,
        "kept": log.is_kept,
        "lines": log.lines,
        "messages": log.messages,
        "first": _time(log.first_at),
        "last": _time(log.last_at),
        "title": log.title,
    }


def _describe_run(run: Run) -> dict[str, Any]:
    return {
        "run": run.name,
        "task": run.task,
        "client": run.text("client"),
        "client_version": run.text("client_version", "version"),
        "mode": run.text("mode"),
        "cwd": run.text("cwd"),
        "repository": run.text("repository"),
        "sha": run.text("sha"),
        "branch": run.text("branch"),
        "dirty": run.data.get("dirty") if isinstance(run.data.get("dirty"), bool) else None,
        "tools": payloads.texts(run.data, "tools"),
        "description": run.description,
        "began": _time(run.began),
        "ended": _time(run.ended),
        "duration_ms": run.duration_ms,
        "exit_code": payloads.number(run.data, "exit_code"),
        "signal": run.data.get("signal") if isinstance(run.data.get("signal"), str | int) else None,
        "outcome": run.outcome,
        **_describe_tally(run.tally),
    }


def _describe_thread(thread: Thread) -> dict[str, Any]:
    return {
        "thread": thread.key.thread,
        "client": thread.key.client,
        "client_version": thread.agent.version if thread.agent is not None else None,
        "client_session": thread.session,
        "run": thread.key.run,
        "parent": thread.parent,
        "kind": thread.kind,
        "turns": len(thread.turns),
        "initiators": dict(thread.initiators),
        "began": _time(thread.began),
        "last": _time(thread.last),
        **_describe_tally(thread.tally),
        "children": [_describe_thread(child) for child in thread.children],
    }


def _describe_tally(tally: Tally) -> dict[str, Any]:
    return {
        "requests": tally.calls,
        "tunnels": tally.tunnels,
        "active": tally.active,
        "request_bytes": tally.request_bytes,
        "response_bytes": tally.response_bytes,
        "errors": tally.failures,
        "statuses": {str(status): count for status, count in sorted(tally.statuses.items())},
        "faults": dict(sorted(tally.faults.items())),
        "models": dict(tally.models.most_common()),
        "redactions": dict(tally.redactions.most_common()),
        "gaps": dict(sorted(tally.gaps.items())),
    }


def name_of(row: Row) -> str:
    """A session as a list calls it; what nobody can be named for is called so."""
    return row.filing.session or (UNATTRIBUTED_NAME if row.filing.attribution == NONE else "-")


def folder_of(row: Row) -> str | None:
    """The folder that its agent worked in. Some clients write no more than a digest of it, which is none."""
    known = (*(outing.folder for outing in row.outings.values()), *(log.folder for log in row.logs))
    return next((folder for folder in known if folder is not None and _FOLDER_MARK.search(folder)), None)


def messages_of(row: Row) -> int:
    """How many messages its imported logs have."""
    return sum(log.messages for log in row.logs)


def counted(counts: Counter[Any]) -> str:
    """Such as `200 × 12, 429 × 1`, the most frequent first."""
    return ", ".join(f"{name} × {count}" for name, count in counts.most_common())


def short_run(run: str) -> str:
    """The end of a run's id, which tells it from its neighbours; a word of the user's own stays whole."""
    prefix, _, rest = run.rpartition("_")
    return rest[-_SHORT_RUN:] if prefix and len(rest) == CHARACTERS else run[:_SHORT_SESSION]


def owner_of(exchange: Exchange) -> str:
    """Whose a request is, in a few characters."""
    session = (exchange.session or "-")[:_SHORT_SESSION]
    if exchange.attribution in (CLAIMED, CLIENT):
        return f"{exchange.attribution} {session}"
    if exchange.attribution in (NONE, None):
        return UNATTRIBUTED_NAME
    return f"{session}/{short_run(exchange.run)}" if exchange.run is not None else session


def _time(wall: int | None) -> str | None:
    return to_rfc3339(wall) if wall is not None else None
