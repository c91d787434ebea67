"""`blackbox audit`: files modified, servers called, sensitive things touched, decisions made."""

from collections.abc import Iterable, Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from blackbox.reading.sessions import each_session
from blackbox.redaction.config import load_redactor
from blackbox.report.audit import Audit, Deed, FileChange, HostUse, McpUse, SensitiveUse, Tally, audit
from blackbox.report.decisions import Decision
from blackbox.report.places import Member, Place
from blackbox.session.calls import Status
from blackbox.session.session import Session
from blackbox.terminal import inputs, output

SCHEMA = "blackbox.audit/1"
_SHOWN_PLACES = 8
_FAILED = (Status.ERR, Status.SKIP)


def command(
    logs: Annotated[
        list[str] | None, typer.Argument(help="Logs, folders or patterns; `-` is standard input.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a log (schema blackbox.audit/1).")] = False,
) -> None:
    """Answer four questions about a session, each with line numbers as evidence.

    What files did it modify? What servers did it call? Did it touch anything sensitive? What did it decide, and why?

    Without arguments, all logs below this folder. Rotated parts and sub-agents' logs are read along with the log that
    names them: 2:14 is line 14 of part 2, sub_1/14 line 14 of that sub-agent's log. A sub-agent of an .rlog that has
    only a companion (NAME.sub-ID.jsonl) is read from that; its lines are counted in the log that
    `blackbox export FILE --format bbox` makes of it. Files that a shell command changes are not found, since commands
    are not carried out again; the lines that hold commands are listed. No secret is printed, only its kind and line.

    Examples:

      blackbox audit session.bbox

      blackbox audit logs/ --json | jq '.files[] | select(.is_modified) | .path'
    """
    names = inputs.find_logs(logs or [])
    redactor = load_redactor()
    console = output.stdout()
    is_first = True

    def show(name: str, session: Session, subagents: Sequence[Member]) -> None:
        nonlocal is_first
        found = audit(session, redactor, subagents)
        if as_json:
            output.write_json({"schema": SCHEMA, "file": name, **_fields(found)})
            return
        if not is_first:
            console.print()
        is_first = False
        show_audit(console, name, found)

    each_session(names, show, as_json=as_json)


def _fields(found: Audit) -> dict[str, object]:
    return {name: getattr(found, name) for name in found.__struct_fields__}


def show_audit(console: Console, name: str, found: Audit) -> None:
    """The four answers, in the order the questions are asked."""
    logs = f" ({found.logs} logs)" if found.logs > 1 else ""
    console.print(f"Audit of {output.printable(inputs.shown(name))}{logs}")
    for unread in found.unread:
        text = f"{unread.path} (line {unread.place}) could not be read: {unread.reason}"
        console.print(Text("  ").append_text(output.marked("!", output.printable(text))))
    _files(console, found)
    _servers(console, found)
    _sensitive(console, found)
    _decisions(console, found.decisions)


def _headline(console: Console, text: str) -> None:
    console.print()
    console.print(text, style="bold")


def _files(console: Console, found: Audit) -> None:
    modified = [file for file in found.files if file.is_modified]
    unknown = [file for file in found.files if file.is_unknown]
    failed = [file for file in found.files if not file.is_modified and not file.is_unknown]
    _headline(console, f"1. Files modified: {len(modified)}")
    for file in modified:
        _line(console, file.path, _told(file))
    if unknown:
        console.print(f"  Not known whether modified, since no result was recorded: {len(unknown)}")
        for file in unknown:
            _line(console, file.path, _told(file), indent=4)
    if failed:
        console.print(f"  Not modified, since every call failed: {len(failed)}")
        for file in failed:
            _line(console, file.path, _told(file), indent=4)
    if found.commands:
        lines = _places(deed.place for deed in found.commands)
        many = _many(len(found.commands), "command")
        console.print(
            f"  Not taken apart: {many} that may have changed files too ({lines})",
            style="bright_black",
        )
    if found.unclear:
        tools = ", ".join(dict.fromkeys(output.printable(deed.tool) for deed in found.unclear))
        lines = _places(deed.place for deed in found.unclear)
        many = _many(len(found.unclear), "call")
        console.print(f"  Not known: {many} that may have changed files too ({tools}  {lines})", style="bright_black")


def _told(file: FileChange) -> str:
    """`edit, write  lines 4, 9 (failed: 12)`."""
    done = [deed for deed in file.deeds if deed.status not in _FAILED]
    failed = [deed for deed in file.deeds if deed.status in _FAILED]
    words = ", ".join(dict.fromkeys(deed.tool for deed in done or failed))
    told = f"{words}  {_places(deed.place for deed in done or failed)}"
    return f"{told}, failed on {_places(deed.place for deed in failed)}" if done and failed else told


def _servers(console: Console, found: Audit) -> None:
    outside = [host for host in found.hosts if host.is_named and not host.is_loopback]
    unnamed = [host for host in found.hosts if not host.is_named]
    loopback = [host for host in found.hosts if host.is_loopback]
    servers = dict.fromkeys(use.server for use in found.mcp)
    _headline(
        console, f"2. External servers called: {_many(len(outside), 'host')}, {_many(len(servers), 'MCP server')}"
    )
    for host in outside:
        _line(console, host.host, _uses(host))
    for host in unnamed:
        _line(console, f"{host.host} (host not named)", _uses(host))
    for host in loopback:
        _line(console, f"{host.host} (this machine)", _uses(host))
    for server in servers:
        console.print(f"  MCP {output.printable(server)}")
        for use in (use for use in found.mcp if use.server == server):
            _line(console, use.method or "(no method)", _counted(use), indent=4)


def _uses(host: HostUse) -> str:
    tools = ", ".join(dict.fromkeys(deed.tool for deed in host.deeds))
    return f"{tools}  {_places(deed.place for deed in host.deeds)}"


def _counted(use: McpUse) -> str:
    failed = f", {use.failed} failed" if use.failed else ""
    return f"{_many(use.calls, 'call')}{failed}  {_places(use.places)}"


def _sensitive(console: Console, found: Audit) -> None:
    _headline(console, f"3. Sensitive paths touched: {len(found.sensitive)}")
    for use in found.sensitive:
        _line(console, use.path, f"{use.why}: {_touches(use)}")
    _tallies(console, "Redactions met", found.redactions)
    _tallies(console, "Secrets in the clear", found.secrets, style="bold red")
    if found.secrets:
        console.print(Text("  ").append_text(output.marked("!", "blackbox redact makes a copy without them")))


def _touches(use: SensitiveUse) -> str:
    by_access: dict[str, list[Deed]] = {}
    for deed in use.deeds:
        failed = " (failed)" if deed.status in _FAILED else ""
        by_access.setdefault(deed.access + failed, []).append(deed)
    return ", ".join(f"{access} {_places(deed.place for deed in deeds)}" for access, deeds in by_access.items())


def _tallies(console: Console, label: str, tallies: Sequence[Tally], style: str = "") -> None:
    console.print(f"  {label}: {sum(tally.count for tally in tallies)}", style=style if tallies else "")
    for tally in tallies:
        _line(console, tally.kind, f"{tally.count}  {_places(tally.places)}", indent=4)


def _decisions(console: Console, decisions: Sequence[Decision]) -> None:
    unconfirmed = sum(decision.is_unconfirmed for decision in decisions)
    note = f", {unconfirmed} not confirmed by a human" if unconfirmed else ""
    _headline(console, f"4. Decisions: {len(decisions)}{note}")
    for decision in decisions:
        console.print(_decision(decision))


def _decision(decision: Decision) -> Text:
    mark = ("  ! ", "bold yellow") if decision.is_unconfirmed else ("    ", "")
    subject = "" if decision.subject == decision.kind else f"  {output.printable(_one_line(decision.subject))}"
    text = Text.assemble(mark, (decision.kind, "cyan"), subject)
    if decision.outcome:
        text.append(f" → {output.printable(_one_line(decision.outcome))}", "bold")
    if decision.by:
        text.append(f" (by the {decision.by})")
    if decision.is_unconfirmed:
        text.append(" not confirmed", "bold yellow")
    if decision.kind == "question" and decision.outcome is None:
        text.append(" not answered", "bold yellow")
    if decision.reason:
        text.append(f", because: {output.printable(_one_line(decision.reason))}")
    places = [decision.place] + ([decision.answered_at] if decision.answered_at is not None else [])
    return text.append(f"  {_places(places)}", "bright_black")


def _line(console: Console, name: str, told: str, *, indent: int = 2) -> None:
    text = Text(" " * indent + output.printable(_one_line(name)))
    console.print(text.append(f"  {output.printable(told)}", "bright_black"))


def _places(places: Iterable[Place]) -> str:
    """`line 12`, `lines 3, 9, 2:14 and 5 more`."""
    names = list(dict.fromkeys(str(place) for place in places))
    shown = ", ".join(names[:_SHOWN_PLACES])
    more = len(names) - _SHOWN_PLACES
    return f"line{'s' if len(names) > 1 else ''} {shown}" + (f" and {more} more" if more > 0 else "")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
