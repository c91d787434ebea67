"""A timeline, made ready to be asked: who said what, which call had which result, and for which run it was."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from blackbird.artifacts import plan
from blackbird.artifacts.plan import Planned
from blackbird.canon.model import Call, Generation, Item, Message, Origin, Result, Role, Text, ToolResult
from blackbird.timeline import statements
from blackbird.timeline.timeline import Stated, Timeline


class Owner(NamedTuple):
    """Whose something is: a run's, else a task's that was told without one, else the session's alone."""

    run: str | None = None
    task: str | None = None


NOBODY = Owner()


class Run(msgspec.Struct, kw_only=True):
    """One attempt at a task: what its launcher stated. Times are nanoseconds since 1970.

    What was told of a task and of no run is kept as one without an id.
    """

    id: str | None
    task: str | None = None
    began: int | None = None
    ended: int | None = None
    exit_code: int | None = None
    signal: str | None = None
    description: str | None = None
    stated: list[Stated] = []

    @property
    def owner(self) -> Owner:
        """What it is known by."""
        return Owner(self.id) if self.id is not None else Owner(None, self.task)


class Deed(NamedTuple):
    """A call and what came of it, if anything did."""

    call: Call
    result: Result | None

    @property
    def outcome(self) -> ToolResult | None:
        """What came back."""
        return self.result.result if self.result is not None else None


class Scene:
    """What extractors look at. Attempts that a later one superseded did not happen, as far as they are concerned."""

    def __init__(self, timeline: Timeline) -> None:
        self.about = timeline.about
        self.items: tuple[Item, ...] = tuple(item for item in timeline.items if not item.is_superseded)
        self.stated = timeline.stated
        self.order = {item.id: at for at, item in enumerate(self.items)}
        self.subagents = {thread.id for thread in timeline.threads if thread.parent is not None}
        self.planned: Mapping[str, Planned] = plan.planned(timeline.stated)
        self.runs = _runs(timeline)
        self._by_request = {
            item.request_id: item.run
            for item in self.items
            if isinstance(item, Generation) and item.request_id is not None and item.run is not None
        }
        self._generations = {item.id: item for item in self.items if isinstance(item, Generation)}
        results = {item.call_id: item for item in self.items if isinstance(item, Result)}
        self.deeds = [Deed(item, results.get(item.call_id)) for item in self.items if isinstance(item, Call)]

    @property
    def session(self) -> str:
        """The session's name."""
        return self.about.session

    def own(self) -> Iterator[Item]:
        """What happened in this session, and not before it."""
        return (item for item in self.items if not item.is_inherited)

    def run_of(self, item: Item) -> Run:
        """The run in which something happened: by its request or its own word, else by its time; else none."""
        if isinstance(item, Call) and (item.run is not None or item.task is not None):
            return self._run_told(item)
        generation = self._generations.get(item.generation or "")
        name = generation.run if generation is not None else None
        for evidence in item.evidence if name is None else ():
            name = name or self._by_request.get(evidence.source)
        if name is None and item.at is not None:
            name = next((run.id for run in self.runs.values() if _holds(run, item.at)), None)
        return self._run(Owner(name))

    def _run_told(self, call: Call) -> Run:
        """The run that a tool was used in; told of a task alone, a run of that task that was under way."""
        if call.run is not None:
            return self._run(Owner(call.run))
        under_way = (run for run in self.runs.values() if run.task == call.task and _holds(run, call.at))
        return next(under_way, None) or self._run(Owner(None, call.task))

    def _run(self, owner: Owner) -> Run:
        return self.runs.get(owner) or self.runs.setdefault(NOBODY, Run(id=None))

    def request_of(self, item: Item) -> str | None:
        """The request that something came out of."""
        generation = self._generations.get(item.generation or "")
        return generation.request_id if generation is not None else None

    def is_human(self, item: Item) -> bool:
        """Whether the human at the keyboard said it."""
        return isinstance(item, Message) and any(is_human for _, is_human in self.spoken(item))

    def spoken(self, message: Message) -> Iterator[tuple[Text, bool]]:
        """The texts of a message that are somebody's own words, and whether that is the human."""
        if message.role is Role.USER and message.origin is Origin.USER and message.thread not in self.subagents:
            yield from ((part, True) for part in message.parts if isinstance(part, Text))
        elif message.role is Role.ASSISTANT and message.origin is Origin.AGENT:
            yield from ((part, False) for part in message.parts if isinstance(part, Text))


def _runs(timeline: Timeline) -> dict[Owner, Run]:
    """The runs in the order in which they were stated; a session without one has one without a name."""
    runs: dict[Owner, Run] = {}
    for stated in timeline.stated:
        owner = _meant(stated, runs)
        if owner is not None:
            run = runs.setdefault(owner, Run(id=owner.run, task=owner.task))
            run.task = run.task or stated.task
            _state(run, stated)
    for item in timeline.items:
        if isinstance(item, Generation | Call) and item.run is not None:
            runs.setdefault(Owner(item.run), Run(id=item.run, task=item.task))
        elif isinstance(item, Call) and item.task is not None:
            runs.setdefault(Owner(None, item.task), Run(id=None, task=item.task))
    return runs or {NOBODY: Run(id=None)}


def _meant(stated: Stated, runs: Mapping[Owner, Run]) -> Owner | None:
    """What a statement is about, if it is a run. An outcome without one is that of the last run of its task so far;
    of a task that nothing ran for yet, it is the task's own."""
    if stated.run is not None:
        return Owner(stated.run)
    if stated.event != statements.OUTCOME:
        return None
    before = [owner for owner, run in runs.items() if owner.run is not None and stated.task in (None, run.task)]
    return before[-1] if before else Owner(None, stated.task)


def _state(run: Run, stated: Stated) -> None:
    run.stated.append(stated)
    data = stated.data
    described = {"run.start": data.get("description"), statements.RUN_DESCRIBE: data.get("text")}.get(stated.event)
    run.description = described if isinstance(described, str) and described else run.description
    if stated.event == "run.start":
        run.began = stated.at
    elif stated.event == "run.end":
        code, signal = data.get("exit_code"), data.get("signal")
        run.ended = stated.at
        run.exit_code = code if isinstance(code, int) else None
        run.signal = str(signal) if signal is not None else None


def _holds(run: Run, at: int | None) -> bool:
    return at is not None and run.began is not None and run.began <= at and (run.ended is None or at <= run.ended)
