"""A session as a harness works on it: its goal, its plan, how its tasks ended and what it came to so far."""

import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from blackbird import home as homes
from blackbird.artifacts import plan as plans
from blackbird.artifacts.model import Status
from blackbird.artifacts.note import Note
from blackbird.artifacts.plan import State, Task
from blackbird.config.load import load
from blackbird.errors import NotFound
from blackbird.harness import drafts, knowing, naming
from blackbird.harness.drafts import Draft, Step
from blackbird.harness.stating import Statements
from blackbird.home import Home
from blackbird.timeline import statements
from blackbox.errors import UsageError

#: How a task can end by somebody's word; that nobody knows is no word.
VERDICTS = (Status.SUCCESS, Status.FAIL, Status.BLOCKED)


class Harness:
    """One session. What is said of it is a record of the trace before a call comes back.

    with Harness.open("harbour", goal="the crane lifts again") as session:
        session.add_task("Mend the crane", id="crane")
    """

    def __init__(self, home: Home, session: str) -> None:
        self.home = home
        self.session = naming.checked("session", session)
        self._config = load(home)

    @classmethod
    def open(cls, session: str | None = None, goal: str | None = None, home: Home | None = None) -> Self:
        """A session that begins now, or goes on if there is one of this id; without an id it gets one."""
        home = homes.find() if home is None else home
        opened = cls(home, session if session is not None else naming.new_session())
        note = opened.note()
        with opened.stating() as told:
            if note is None or note.opened is None or note.closed is not None:
                told.state(statements.SESSION_START, folder=_folder())
            if goal is not None and (note is None or note.goal != goal):
                told.state(statements.GOAL, text=_said("a goal", goal))
        return opened

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def stating(self) -> Statements:
        """Says things of this session."""
        return Statements(self.home, self._config, self.session)

    def note(self) -> Note | None:
        """What is known of it; nothing if nobody ever heard of it."""
        return knowing.notes(self.home).get(self.session)

    def plan(self) -> tuple[Task, ...]:
        """Its tasks as a tree that is read from the top."""
        note = self.note()
        return note.plan if note is not None else ()

    def task(self, name: str) -> Task:
        """One task. Raises `NotFound`."""
        return _known(self.plan(), name, self.session)

    def set_goal(self, text: str) -> None:
        """Say what it is for; the last word counts."""
        with self.stating() as told:
            told.state(statements.GOAL, text=_said("a goal", text))

    def add_task(
        self,
        title: str,
        *,
        id: str | None = None,  # noqa: A002 - the word that commands and records have for it
        parent: str | None = None,
        description: str | None = None,
    ) -> str:
        """Put a task behind the others below its parent, or at the top; its id, which is made of the title if none
        is given. Raises `UsageError` if there is such a task, and `NotFound` if there is no such parent."""
        title, plan = naming.line(title), self.plan()
        name = naming.checked("id", id) if id is not None else naming.slug(title)
        if plans.find(plan, name) is not None:
            raise UsageError(f"the session {self.session} has a task {name} already", "give the new one another --id")
        if parent is not None:
            _known(plan, parent, self.session)
        order = len(plans.below(plan, parent)) + 1
        with self.stating() as told:
            told.state(
                statements.TASK_ADD, task=name, title=title, description=description, parent=parent, order=order
            )
        return name

    def draw_up(self, written: Iterable[Draft | str], parent: str | None = None, *, write: bool = True) -> list[Step]:
        """Take over a plan that was written down; what that changes. Without `write`, only what it would."""
        plan = self.plan()
        if parent is not None:
            _known(plan, parent, self.session)
        found = drafts.steps(list(written), plan, parent)
        changed = [step for step in found if step.what != "same"]
        if write and changed:
            with self.stating() as told:
                for step in changed:
                    _draw(told, step)
        return found

    def set_state(self, task: str, state: State) -> None:
        """Say whether something is left to do of a task."""
        self.task(task)
        with self.stating() as told:
            told.state(statements.TASK_STATE, task=task, state=state)

    def finish(self, task: str, status: Status, summary: str | None = None) -> None:
        """Say that a task is done and how it ended: that of its last run, or its own if none ran."""
        self.task(task)
        with self.stating() as told:
            told.state(statements.OUTCOME, task=task, status=verdict(status), summary=summary)
            told.state(statements.TASK_STATE, task=task, state=State.DONE)

    def checkpoint(self, text: str) -> None:
        """Say what the session came to so far; it becomes part of its summary, and the last word counts."""
        with self.stating() as told:
            told.state(statements.CHECKPOINT, text=_said("a checkpoint", text))

    def end(self) -> None:
        """Say that nothing more is planned."""
        with self.stating() as told:
            told.state(statements.SESSION_END)


def verdict(status: str) -> Status:
    """How something ended, by somebody's word. Raises `UsageError` for anything that is none."""
    if status not in VERDICTS:
        raise UsageError(f"`{status}` is no way to end", f"say {', '.join(VERDICTS[:-1])} or {VERDICTS[-1]}")
    return Status(status)


def _draw(told: Statements, step: Step) -> None:
    told.state(
        statements.TASK_ADD,
        task=step.id,
        title=step.title,
        description=step.description,
        parent=step.parent,
        order=step.order,
    )
    if step.state is not None:
        told.state(statements.TASK_STATE, task=step.id, state=step.state)


def _known(plan: Iterable[Task], name: str, session: str) -> Task:
    found = plans.find(plan, name)
    if found is None:
        shown = name if name.isprintable() else ascii(name)
        raise NotFound(f"the session {session} has no task {shown}", f"blackbird task list {session} shows them")
    return found


def _said(what: str, text: str) -> str:
    found = text.strip()
    if not found:
        raise UsageError(f"{what} needs words", "say it in a line or some")
    return found


def _folder() -> str | None:
    try:
        return str(Path(os.getcwd()))  # noqa: PTH109 - as it is, not resolved
    except OSError:
        return None
