"""The pair of files of an `.rlog`, and the files of sub-agents, from logs that were written in full."""

from typing import NamedTuple

from blackbird.flightlog.entries.agents import Agent
from blackbox.document.document import parse
from blackbox.formats import logs
from blackbox.formats.companion import to_companion
from blackbox.formats.flight import Entry, Flight, flight_of
from blackbox.formats.jsonlines import dump
from blackbox.formats.shorten import MARK, shortened
from blackbox.write.header import HeaderFields

#: How much of a thought's signature an `.rlog` shows, and what only programs read of its lines.
_SIGNATURE = 16
_FOR_PROGRAMS = ("extra.response", "extra.request")


class Pair(NamedTuple):
    """An `.rlog`, cut short for people, and its companion with everything."""

    log: str
    companion: str


class SubagentHeader(NamedTuple):
    """The header of a sub-agent's log: its fields, and the words of its first line."""

    fields: HeaderFields
    session: str
    parent: str
    kind: str


def pair(data: bytes) -> Pair:
    """Both files of a log."""
    flight = flight_of(parse(data)).flight
    short, _ = shortened(Flight(flight.header, [_shown(entry) for entry in flight.entries]))
    text, _ = logs.to_log(short, "rlog")
    return Pair(text, to_companion(flight))


def subagent_header(header: HeaderFields, agent: Agent, above: Agent | None) -> SubagentHeader:
    """What the log of a sub-agent says of itself."""
    session = f"sub-{agent.id}"
    fields: HeaderFields = {"format": "rlog/1", "id": session, "repo_sha": header["repo_sha"]}
    if "model" in header:
        fields["model"] = header["model"]
    return SubagentHeader(fields, session, header["id"] if above is None else f"sub-{above.id}", agent.kind)


def subagent(data: bytes, about: SubagentHeader) -> str:
    """The companion of a sub-agent, whose first line says whose it is."""
    flight = flight_of(parse(data)).flight
    began = next((entry.meta["ts"] for entry in flight.entries if "ts" in entry.meta), None)
    first = {
        "type": "header",
        "session_id": about.session,
        "parent_session": about.parent,
        "agent_type": about.kind,
        **({} if began is None else {"started_at": began}),
        "header": flight.header,
    }
    _, _, rest = to_companion(flight).partition("\n")
    return dump(first) + "\n" + rest


def _shown(entry: Entry) -> Entry:
    meta = {key: value for key, value in entry.meta.items() if key not in _FOR_PROGRAMS}
    signature = meta.get("sig", "")
    if len(signature) > _SIGNATURE:
        meta["sig"] = signature[:_SIGNATURE] + MARK
    return Entry(entry.event, meta)
