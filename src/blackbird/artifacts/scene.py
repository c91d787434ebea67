"""A timeline, made ready to be asked: who said what, which call had which result, and for which run it was."""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from blackbird.canon.model import Call, Generation, Item, Message, Origin, Result, Role, Text, ToolResult
from blackbird.timeline.timeline import Stated, Timeline


class Run(msgspec.Struct, kw_only=True):
    """One attempt at a task: what its launcher stated. Times are nanoseconds since 1970."""

    id: str | None
    task: str | None = None
    began: int | None = None
    ended: int | None = None
    exit_code: int | None = None
    signal: str | None = None
    description: str | None = None
    stated: list[Stated] = []


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
        """The run in which something happened: by its request, else by its time; else none."""
        generation = self._generations.get(item.generation or "")
        name = generation.run if generation is not None else None
        for evidence in item.evidence if name is None else ():
            name = name or self._by_request.get(evidence.source)
        if name is None and item.at is not None:
            name = next((run.id for run in self.runs.values() if _holds(run, item.at)), None)
        return self.runs.get(name) or self.runs.setdefault(None, Run(id=None))

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


def _runs(timeline: Timeline) -> dict[str | None, Run]:
    """The runs in the order in which they were stated; a session without one has one without a name."""
    runs: dict[str | None, Run] = {}
    for stated in timeline.stated:
        if stated.run is None:
            continue
        run = runs.setdefault(stated.run, Run(id=stated.run, stated=[]))
        run.task = run.task or stated.task
        run.stated.append(stated)
        if stated.event == "run.start":
            run.began = stated.at
            description = stated.data.get("description")
            run.description = description if isinstance(description, str) else run.description
        elif stated.event == "run.end":
            code, signal = stated.data.get("exit_code"), stated.data.get("signal")
            run.ended = stated.at
            run.exit_code = code if isinstance(code, int) else None
            run.signal = str(signal) if signal is not None else None
    for item in timeline.items:
        if isinstance(item, Generation) and item.run is not None and item.run not in runs:
            runs[item.run] = Run(id=item.run, task=item.task)
    return runs or {None: Run(id=None)}


def _holds(run: Run, at: int) -> bool:
    return run.began is not None and run.began <= at and (run.ended is None or at <= run.ended)
