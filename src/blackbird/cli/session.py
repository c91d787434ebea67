"""`blackbird session`: opened, listed, and one of them with its tasks, runs, threads and what passed."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer
from rich.console import Console

from blackbird import home as homes
from blackbird.cli import following
from blackbird.cli.planning import sessions
from blackbird.config.units import round_duration, round_size
from blackbird.exchange import payloads
from blackbird.exchange.clock import to_rfc3339
from blackbird.sessions import rows, view
from blackbird.sessions.choice import choose
from blackbird.sessions.detail import Detail, Run
from blackbird.sessions.rows import Row
from blackbird.sessions.survey import examine, survey
from blackbird.sessions.tally import Tally
from blackbird.sessions.threads import Thread
from blackbird.trace.folder import Trace
from blackbox.terminal import output

_SHORT_SHA = 12
_MOST_FILES = 3

app = typer.Typer(rich_markup_mode=None)
app.command("new")(sessions.new)
app.command("goal")(sessions.goal)
app.command("list")(following.sessions)


@app.callback(invoke_without_command=True)
def overview(context: typer.Context) -> None:
    """One session: its goal, tasks, runs, threads and sub-agents, and what passed.

    Without a command: the newest.

    Examples:

      blackbird session show

      blackbird session show harbour --json
    """
    if context.invoked_subcommand is None:
        show()


@app.command("show")
def show(
    identifier: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="A session, a run or a client's own id, or its start; else the newest."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object (schema session/1).")] = False,
) -> None:
    """Show one session: goal, tasks, runs and how they ended, requests, models, masked secrets, threads as a tree.

    Threads and sub-agents are those that the client names with ids of its own; requests of a client without such ids
    are one thread of their run. `unattributed` shows what nobody can be named for. Times are UTC.

    Examples:

      blackbird session show

      blackbird session show run_01JD4Q0000000000000000000A

      blackbird session show harbour --json | jq '.runs[].exit_code'
    """
    trace = Trace(homes.find().trace)
    found = survey(trace)
    for problem in found.problems:
        output.tell_error(problem, as_json=as_json)
    row = choose(found.rows.rows(), identifier)
    detail = examine(trace, found, row)
    if as_json:
        output.write_json(view.describe_detail(detail))
    else:
        _show(output.stdout(), detail)


def _show(console: Console, detail: Detail) -> None:
    row = detail.row
    mark = view.MARKS.get(row.filing.attribution)
    console.print(output.printable(view.name_of(row)) + (f" ({mark})" if mark else ""), style="bold")
    _show_pairs(console, _facts(detail))
    for run in detail.runs.values():
        console.print()
        ending = "red" if payloads.number(run.data, "exit_code") or run.data.get("signal") else "bold"
        console.print(f"{output.printable(run.name)}  {output.printable(run.outcome)}", style=ending)
        # Of a single run, all of it was said above.
        _show_pairs(console, [*_run_facts(run), *(_tally_facts(run.tally) if len(detail.runs) > 1 else ())])
    top = detail.threads.tree()
    if top:
        console.print()
        console.print("threads", style="bold")
        for line in _thread_lines(top, "", with_runs=len(detail.runs) > 1):
            console.print(output.printable(line))
    console.print()
    for step in _next_steps(detail):
        console.print(f"  {output.printable(step)}", style="bright_black")


def _show_pairs(console: Console, pairs: Sequence[tuple[str, str | None]]) -> None:
    for name, text in pairs:
        if text:
            console.print(f"  {name:<9} {output.printable(text)}")


def _facts(detail: Detail) -> list[tuple[str, str | None]]:
    row = detail.row
    pairs = [
        ("goal", row.goal),
        ("title", row.title),
        ("agents", ", ".join(row.agents)),
        ("tasks", ", ".join(detail.tasks)),
        ("time", f"{_second(row.began)} to {_second(row.last)}"),
        ("folder", None if detail.runs else view.folder_of(row)),
        ("imported", _imported(row)),
        ("files", _files(row)),
    ]
    return [*pairs, *(_tally_facts(detail.tally) if _is_recorded(row) else ())]


def _is_recorded(row: Row) -> bool:
    return row.filing.attribution != rows.IMPORTED


def _imported(row: Row) -> str | None:
    """What was taken in of the agents' own logs."""
    if not row.logs:
        return None
    lines, outside = sum(log.lines for log in row.logs), sum(not log.is_kept for log in row.logs)
    counts = ((view.messages_of(row), "message"), (lines, "line"), (len(row.logs), "file"))
    told = ", ".join(f"{count} {name}{'s' if count != 1 else ''}" for count, name in counts)
    return told + (f"; {outside} left outside of the trace" if outside else "")


def _files(row: Row) -> str:
    """Where the logs were; of many, the first."""
    paths = [log.path for log in row.logs if log.path is not None]
    more = len(paths) - _MOST_FILES
    return ", ".join(paths[:_MOST_FILES]) + (f" and {more} more" if more > 0 else "")


def _run_facts(run: Run) -> list[tuple[str, str | None]]:
    client = " ".join(filter(None, (run.text("client", "program"), run.text("client_version"))))
    began = _second(run.began) if run.began is not None else None
    took = f"  took {round_duration(run.duration_ms / 1000)}" if run.duration_ms is not None else ""
    return [
        ("about", run.description),
        ("client", f"{client}  {run.text('mode') or ''}".strip()),
        ("task", run.task),
        ("time", f"{began}{took}" if began else took.strip()),
        ("folder", run.text("cwd")),
        ("git", _git(run)),
    ]


def _git(run: Run) -> str:
    sha = run.text("sha")
    dirty = run.data.get("dirty")
    state = "with changes" if dirty is True else "clean" if dirty is False else None
    words = (run.text("repository", "root"), run.text("branch"), sha[:_SHORT_SHA] if sha else None, state)
    return "  ".join(filter(None, words))


def _tally_facts(tally: Tally) -> list[tuple[str, str | None]]:
    tunnels = f", {tally.tunnels} of them tunnels" if tally.tunnels else ""
    active = f", {tally.active} without an end" if tally.active else ""
    sizes = f"{round_size(tally.request_bytes)} sent, {round_size(tally.response_bytes)} received"
    return [
        ("requests", f"{tally.calls}{tunnels}{active}" + (f"  {sizes}" if tally.calls else "")),
        ("models", view.counted(tally.models)),
        ("statuses", view.counted(tally.statuses)),
        ("errors", view.counted(tally.faults)),
        ("masked", view.counted(tally.redactions)),
        ("missing", view.counted(tally.gaps)),
    ]


def _thread_lines(threads: Sequence[Thread], indent: str, *, with_runs: bool) -> Iterator[str]:
    for thread in threads:
        is_last = thread is threads[-1]
        client = thread.key.client or "?"
        version = f" {thread.agent.version}" if thread.agent is not None and thread.agent.version else ""
        name = thread.key.thread or "no ids of its own"
        words = [
            f"{client}{version}",
            name,
            thread.kind or "",
            f"of {thread.parent}, which is not here" if not indent and thread.parent else "",
            f"run {view.short_run(thread.key.run)}" if with_runs and not indent and thread.key.run else "",
            f"{thread.tally.calls} requests" if thread.tally.calls != 1 else "1 request",
            f"{len(thread.turns)} turns" if len(thread.turns) > 1 else "",
            f"begun by {view.counted(thread.initiators)}" if thread.initiators else "",
            view.counted(thread.tally.models),
        ]
        yield f"  {indent}{'└─' if is_last else '├─'} {'  '.join(filter(None, words))}"
        yield from _thread_lines(thread.children, indent + ("   " if is_last else "│  "), with_runs=with_runs)


def _next_steps(detail: Detail) -> list[str]:
    filing = detail.row.filing
    name = "" if filing.session is None or filing.attribution == rows.CLIENT else f" --session {filing.session}"
    steps = []
    if filing.session is not None:
        steps += [
            (f"blackbird show {filing.session}", "what was said and done"),
            (f"blackbird export {filing.session}", "the same as a flight log"),
        ]
    if filing.session is not None and detail.tasks:
        steps.append((f"blackbird task list {filing.session}", "its tasks, and how they ended"))
    if detail.tally.calls:
        steps.append((f"blackbird requests{name}", "each request"))
    if _is_recorded(detail.row):
        steps.append((f"blackbird tail{name}", "what agents say and do, as it happens"))
    steps.append(("blackbird sessions", "all sessions"))
    width = max(len(command) for command, _ in steps)
    return [f"{command:<{width}}  {what}" for command, what in steps]


def _second(wall: int | None) -> str:
    text = to_rfc3339(wall) if wall is not None else None
    return (text or "?")[:19].replace("T", " ")
