"""A session as a harness works on it: its goal, its plan, its tasks as they run, and what it came to so far."""

import contextlib
import os
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

from blackbird import home as homes
from blackbird.agents import environment
from blackbird.artifacts import plan as plans
from blackbird.artifacts.model import Status
from blackbird.artifacts.note import Note
from blackbird.artifacts.plan import State
from blackbird.config.load import load
from blackbird.errors import NotFound
from blackbird.harness import drafts, knowing, naming
from blackbird.harness.drafts import Draft, Step
from blackbird.harness.stating import Statements
from blackbird.harness.task import PROGRAM, Task
from blackbird.harness.verdicts import verdict
from blackbird.home import Home
from blackbird.recall import Recall
from blackbird.recorder import control, process
from blackbird.timeline import statements
from blackbox.errors import UsageError


class Harness:
    """One session. What is said of it is a record of the trace, and on the disk, before a call comes back.

    with Harness.open("harbour", goal="the crane lifts again") as session:
        with session.start_task("Mend the crane") as task:
            subprocess.run(agent, env=os.environ | task.environment, input=task.pack.text.encode())
            task.record_outcome("success", "the crane lifts 5 t")
        session.checkpoint("The crane is mended; the winch is next.")

    What is asked of the memory is asked by `recall`, by one of its own if none is given.
    """

    def __init__(self, home: Home, session: str, *, recall: Recall | None = None) -> None:
        self.home = home
        self.session = naming.checked("session", session)
        self._config = load(home)
        self._stack = contextlib.ExitStack()
        self._recall = recall or self._stack.enter_context(Recall(home, self._config, door="harness"))
        self._under_way: list[Task] = []

    @classmethod
    def open(
        cls,
        session: str | None = None,
        goal: str | None = None,
        home: Home | None = None,
        *,
        recall: Recall | None = None,
    ) -> Self:
        """A session that begins now, or goes on if there is one of this id; without an id it gets one."""
        home = homes.find() if home is None else home
        opened = cls(home, session if session is not None else naming.new_session(), recall=recall)
        note = opened.note()
        with opened.stating() as told:
            if note is None or note.opened is None or note.closed is not None:
                told.state(statements.SESSION_START, folder=homes.working_folder())
            if goal is not None and (note is None or note.goal != goal.strip()):
                told.state(statements.GOAL, text=_said("a goal", goal))
        return opened

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._stack:
            self._end_tasks(exit_code=None if kind is None else 1)
            if kind is None:
                self.end()

    def stating(self) -> Statements:
        """Says things of this session."""
        return Statements(self.home, self._config, self.session)

    def note(self) -> Note | None:
        """What is known of it; nothing if nobody ever heard of it."""
        return knowing.notes(self._recall, self.home).get(self.session)

    def plan(self) -> tuple[plans.Task, ...]:
        """Its tasks as a tree that is read from the top."""
        note = self.note()
        return note.plan if note is not None else ()

    def task(self, name: str) -> plans.Task:
        """What is known of one task. Raises `NotFound`."""
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

    def start_task(
        self,
        description: str,
        *,
        id: str | None = None,  # noqa: A002 - the word that commands and records have for it
        parent: str | None = None,
        budget: int | None = None,
    ) -> Task:
        """Begin a run of a task, with what the tasks before it came to as its `pack`.

        A recorder is started if none runs. A task that is not in the plan is added to it; the same description, or
        the same id, means the same task, and another run of it. Raises `UsageError` if the task has parts: those run.
        """
        running = process.up(self.home, self._config)
        known = self._planned(description, id, parent)
        folder = homes.working_folder()
        pack = self._recall.context(
            session=self.session, task=known, description=description, folder=folder, budget=budget
        )
        data = {"program": PROGRAM, "cwd": folder, "parent_run": os.environ.get("BLACKBIRD_RUN")}
        asked = {"op": "register", "session": self.session, "task": known, "run": None, "data": data}
        run = {key: str(value) for key, value in control.request(self.home, asked).items()}
        with self.stating() as told:
            told.state(statements.RUN_DESCRIBE, task=run["task"], run=run["run"], text=description.strip())
        task = Task(self.home, self.stating(), run, self._environment(running.listen, run), pack)
        self._under_way.append(task)
        return task

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
        """Say that nothing more is planned; tasks that are under way end with it."""
        self._end_tasks(exit_code=None)
        with self.stating() as told:
            told.state(statements.SESSION_END)

    def _planned(self, description: str, name: str | None, parent: str | None) -> str:
        """The id of the task that a description means, which is in the plan by then."""
        title, plan = naming.line(description), self.plan()
        name = naming.checked("id", name) if name is not None else naming.slug(title)
        known = plans.find(plan, name)
        if known is None:
            whole, first = description.strip(), description.strip().splitlines()[0]
            return self.add_task(first, id=name, parent=parent, description=whole if whole != first else None)
        if not known.is_leaf:
            raise UsageError(f"the task {name} has parts", "start one of those: leaves of the plan are what runs")
        if parent not in (None, known.parent):
            raise UsageError(f"the task {name} is no part of {parent}", "leave the parent out, or give another id")
        return name

    def _environment(self, listen: str, run: dict[str, str]) -> dict[str, str]:
        token: Any = self._config["proxy.token"]
        found = environment.variables(listen, token, self._config.upstreams, run)
        return {**found, homes.VARIABLE: str(self.home.path)}

    def _end_tasks(self, exit_code: int | None) -> None:
        while self._under_way:
            self._under_way.pop().end(exit_code)


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


def _known(plan: Iterable[plans.Task], name: str, session: str) -> plans.Task:
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
