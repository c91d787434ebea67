"""`blackbird task`: the plan of a session, its tasks, and how they ended."""

import contextlib
import os
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from blackbird import home as homes
from blackbird.artifacts import plan as plans
from blackbird.artifacts.model import Status
from blackbird.artifacts.note import Note
from blackbird.artifacts.plan import State
from blackbird.cli.memory.answering import recalled
from blackbird.cli.planning import lines
from blackbird.config.units import counted
from blackbird.errors import NotFound
from blackbird.harness import Harness, drafts, knowing, markdown
from blackbird.harness.drafts import Written
from blackbird.launch.ids import check_id
from blackbox.errors import ReadError
from blackbox.terminal import output

_LONGEST_PLAN = 4 << 20

app = typer.Typer(rich_markup_mode=None)

InSession = Annotated[str | None, typer.Option("--session", metavar="ID", help="The session; else the current one.")]
TaskId = Annotated[str, typer.Argument(metavar="ID", help="The task.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object a task (schema task/1).")]


class Ending(Enum):
    """How a task ended."""

    SUCCESS = "success"
    FAIL = "fail"
    BLOCKED = "blocked"


class Form(Enum):
    """How a plan is written down."""

    JSON = "json"
    MARKDOWN = "markdown"


@app.callback(invoke_without_command=True)
def overview(context: typer.Context) -> None:
    """The plan of a session: an ordered tree of tasks, what ran for each, and how it ended.

    Without a command: the plan of the current session, which is that of BLACKBIRD_SESSION, else the newest that was
    opened by `blackbird session new` or a harness and is not over.

    Examples:

      blackbird task add "Mend the crane" --id crane

      blackbird run --session harbour --task crane -- AGENT

      blackbird task
    """
    if context.invoked_subcommand is None:
        list_()


@app.command("list")
def list_(
    session: Annotated[str | None, typer.Argument(metavar="SESSION", help="A session; else the current one.")] = None,
    as_json: Json = False,
) -> None:
    """Show the tasks of a session as a tree, with their states, runs and outcomes.

    [ ] is open, [x] done and [-] dropped: as it was said, else by the last run of a task, or by its parts. Behind a
    title stands how its runs ended. Tasks that ran without being planned stand at the end.

    Examples:

      blackbird task list

      blackbird task list harbour --json | jq -r 'select(.state == "open") | .id'
    """
    with recalled() as recall:
        known = knowing.notes(recall, homes.find())
    note = _note(known, session if session is not None else _reading(known))
    if as_json:
        for task in note.plan:
            output.write_json(lines.describe(note.session, task))
        return
    console = output.stdout()
    console.print(output.printable(f"{note.session}: {note.goal}" if note.goal else note.session), style="bold")
    for line in lines.tree(note.plan):
        console.print(output.printable(line))
    if not note.plan:
        output.stderr().print('It has no tasks yet. `blackbird task add "TITLE"` adds one.')


@app.command("show")
def show(identifier: TaskId, session: InSession = None, as_json: Json = False) -> None:
    """Show one task: what it is, its runs with how each ended and why, and its parts.

    Examples:

      blackbird task show crane

      blackbird artifacts ART    (what a run's outcome was concluded from)
    """
    with recalled() as recall:
        known = knowing.notes(recall, homes.find())
    note = known[_having(known, identifier, session)]
    _show(note, identifier, as_json=as_json)


@app.command("add")
def add(
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What is to be done, in a few words.")],
    identifier: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="Its id; else one is made of the title.")
    ] = None,
    parent: Annotated[str | None, typer.Option("--parent", metavar="ID", help="The task that it is part of.")] = None,
    describe: Annotated[str | None, typer.Option("--describe", metavar="TEXT", help="What it is in full.")] = None,
    session: InSession = None,
    as_json: Json = False,
) -> None:
    """Add a task to the plan of a session, behind the others, and print its id.

    Leaves of the tree are what runs: `blackbird run --task ID`, as often as it takes.

    Examples:

      blackbird task add "Mend the crane" --id crane --describe "It lifts no more than 2 t."

      blackbird task add "Grease the winch" --parent crane
    """
    named = {"id": check_id("--id", identifier), "parent": check_id("--parent", parent)}
    with _planning(session) as harness:
        name = harness.add_task(title, **named, description=describe)
        if as_json:
            output.write_json(lines.describe(harness.session, harness.task(name)))
        else:
            output.stdout().print(name)


@app.command("done")
def done(
    identifier: TaskId,
    status: Annotated[Ending, typer.Option("--status", help="How it ended.")] = Ending.SUCCESS,
    summary: Annotated[
        str | None, typer.Option("--summary", metavar="TEXT", help="What came of it, in a line or some.")
    ] = None,
    session: InSession = None,
    as_json: Json = False,
) -> None:
    """Say that a task is done, and how it ended.

    It is the last word on the last run of the task. If nothing ran for it, the task has this outcome all the same,
    and context packs tell of it.

    Examples:

      blackbird task done crane

      blackbird task done crane --status blocked --summary "the spare part is on its way"
    """
    with _planning(session, identifier) as harness:
        harness.finish(identifier, Status(status.value), summary)
        _tell(harness, identifier, as_json=as_json)


@app.command("drop")
def drop(identifier: TaskId, session: InSession = None, as_json: Json = False) -> None:
    """Say that a task is not to be done after all.

    Examples:

      blackbird task drop winch
    """
    with _planning(session, identifier) as harness:
        harness.set_state(identifier, State.DROPPED)
        _tell(harness, identifier, as_json=as_json)


@app.command("reopen")
def reopen(identifier: TaskId, session: InSession = None, as_json: Json = False) -> None:
    """Say that something is left to do of a task that was done or dropped.

    Examples:

      blackbird task reopen crane
    """
    with _planning(session, identifier) as harness:
        harness.set_state(identifier, State.OPEN)
        _tell(harness, identifier, as_json=as_json)


@app.command("import")
def import_(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="A plan in JSON or Markdown; - is standard input.")],
    form: Annotated[
        Form | None, typer.Option("--format", help="How it is written; else as its first character says.")
    ] = None,
    parent: Annotated[str | None, typer.Option("--parent", metavar="ID", help="The task to put it below.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    session: InSession = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a task (schema task-import/1).")] = False,
) -> None:
    """Take over a plan that was written down.

    Markdown: headings and entries of lists are tasks, what stands below them are their parts, [x] is done and [-]
    dropped, text is a description, and {#crane} at the end of a line gives an id. A first heading that all else
    stands below names the plan, and is no task. JSON: {"tasks": [{"id", "title", "description", "state", "tasks"}]}.

    The same plan taken over again changes nothing: tasks are known by their ids, which are made of the titles where
    none are given. Tasks that it does not name stay as they are.

    Examples:

      blackbird task import plan.md --dry-run

      agent --print "plan it" | blackbird task import -
    """
    written, below = _written(file, form), check_id("--parent", parent)
    with _planning(session) as harness:
        found = harness.draw_up(written.tasks, below, write=not dry_run)
        states = {task.id: task.state for task in harness.plan()}
    if as_json:
        for step in found:
            output.write_json(lines.describe_step(harness.session, step, step.state or states.get(step.id)))
        return
    for line in lines.steps(found):
        output.stdout().print(output.printable(line))
    count = sum(step.what != "same" for step in found)
    many = f"{count} of {counted(len(found), 'task')}"
    words = f"{many} would change" if dry_run else f"{many} changed"
    output.stderr().print(f"{words} in {harness.session}.")


def _written(file: str, form: Form | None) -> Written:
    try:
        data = sys.stdin.buffer.read(_LONGEST_PLAN) if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise ReadError(f"{file}: {error.strerror or error}", "name a file that can be read, or -") from error
    is_json = data.lstrip()[:1] in (b"{", b"[") and not data.lstrip().startswith((b"[ ]", b"[x]"))
    if form is Form.JSON or (form is None and is_json):
        return drafts.from_json(data)
    return markdown.read(data.decode("utf-8-sig", errors="replace"))


def _reading(known: dict[str, Note]) -> str:
    """The session that is read if none is named: the current one, else the newest with tasks."""
    current = knowing.current(known, os.environ)
    if current is not None:
        return current
    planned = [(note.began or 0, name) for name, note in known.items() if note.plan]
    if not planned:
        raise NotFound(
            "no session has tasks", "blackbird session new opens a session, and blackbird task add plans it"
        )
    return max(planned)[1]


def _writing(known: dict[str, Note], session: str | None) -> str:
    name = check_id("--session", session) or knowing.current(known, os.environ)
    if name is None:
        raise NotFound("no session is open", "blackbird session new opens one; or add --session ID")
    return name


def _note(known: dict[str, Note], name: str) -> Note:
    if name not in known:
        raise NotFound(
            f"there is no session {output.printable(name)}",
            f"blackbird session new {output.printable(name)} opens it; blackbird sessions lists all",
        )
    return known[name]


def _having(known: dict[str, Note], task: str, session: str | None) -> str:
    check_id("ID", task)
    if session is not None:
        note = _note(known, session)
        if plans.find(note.plan, task) is None:
            raise NotFound(f"the session {session} has no task {task}", f"blackbird task list {session} shows them")
        return session
    return knowing.with_task(known, task, knowing.current(known, os.environ))


@contextlib.contextmanager
def _planning(session: str | None, task: str | None = None) -> Iterator[Harness]:
    """The session that something is said of: the one that is named, that has the task, or that is current."""
    home = homes.find()
    with recalled() as recall:
        known = knowing.notes(recall, home)
        name = _having(known, task, session) if task is not None else _note(known, _writing(known, session)).session
        yield Harness(home, name, recall=recall)


def _tell(harness: Harness, task: str, *, as_json: bool) -> None:
    found = harness.task(task)
    if as_json:
        output.write_json(lines.describe(harness.session, found))
        return
    for line in lines.tree([found]):
        output.stdout().print(output.printable(line.strip()))


def _show(note: Note, task: str, *, as_json: bool) -> None:
    found = plans.find(note.plan, task)
    if found is None:
        return
    if as_json:
        output.write_json(lines.describe(note.session, found))
        return
    for line in lines.detail(note.session, found, plans.below(note.plan, task)):
        output.stdout().print(output.printable(line))
