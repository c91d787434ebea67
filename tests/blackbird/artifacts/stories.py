"""Timelines told by hand: who said what, what was called and what came back, each with a body that spells it."""

import json
from typing import Any

import msgspec

from blackbird.artifacts.model import Artifact, Provenance
from blackbird.artifacts.quotes import stands
from blackbird.canon.model import (
    Call,
    Evidence,
    Generation,
    Item,
    Mark,
    Message,
    Origin,
    Outcome,
    Purpose,
    Result,
    Role,
    Settings,
    Side,
    Span,
    Text,
    Thread,
    ToolCall,
    ToolResult,
)
from blackbird.timeline.timeline import About, Spent, Stated, Timeline

_SECOND = 1_000_000_000


class Story:
    """A session that is told item by item, one a second. `bodies` has what stands where."""

    def __init__(self, session: str = "harbour", cwd: str = "/home/dev/crane") -> None:
        self._about = About(session=session, cwd=cwd)
        self._items: list[Item] = []
        self._stated: list[Stated] = []
        self._threads = [Thread(id="main")]
        self.bodies: dict[str, bytes] = {}
        self._run: str | None = None
        self._task: str | None = None
        self._now = 0

    def run(self, run: str, task: str, description: str | None = None) -> None:
        """From here on, what happens is part of a run."""
        self._run, self._task = run, task
        self.state("run.start", {"description": description} if description else {})

    def end(self, exit_code: int = 0) -> None:
        """The run ends."""
        self.state("run.end", {"exit_code": exit_code})
        self._run = self._task = None

    def state(self, event: str, data: dict[str, Any], task: str | None = None) -> None:
        """A harness says something: of the run, or of a task."""
        number = len(self._stated) + 1
        payload = json.dumps({"event": event, "data": data}).encode()
        self.bodies[f"event:{number}"] = payload
        evidence = Evidence(source="event", side=Side.EVENT, start=0, end=len(payload), segment=1, sequence=number)
        self._stated.append(
            Stated(event=event, at=self._tick(), evidence=evidence, run=self._run, task=task or self._task, data=data)
        )

    def user(self, text: str, origin: Origin = Origin.USER, **more: Any) -> str:
        """Somebody says something in the user's name."""
        return self._say(Role.USER, origin, text, None, **more)

    def agent(self, text: str, **more: Any) -> str:
        """The agent says something."""
        return self._say(Role.ASSISTANT, Origin.AGENT, text, self._generation(), **more)

    def call(self, name: str, arguments: dict[str, Any], text: str | None = "", **more: Any) -> str:
        """The agent calls a tool, and something comes back; nothing, if `text` is None."""
        thread = more.pop("thread", "main")
        generation = self._generation(thread)
        raw = json.dumps(arguments)
        name_of_call, evidence, spans = self._place(raw)
        call_id = f"call_{name_of_call}"
        self._items.append(
            Call(
                id=name_of_call,
                thread=thread,
                at=self._tick(),
                generation=generation,
                evidence=(evidence,),
                call_id=call_id,
                call=ToolCall(name, call_id, arguments, raw, spans=spans),
            )
        )
        if text is not None:
            item, evidence, spans = self._place(text)
            error, details = more.pop("error", None), more.pop("details", {})
            self._items.append(
                Result(
                    id=item,
                    thread=thread,
                    at=self._tick(),
                    evidence=(evidence,),
                    call_id=call_id,
                    result=ToolResult(call_id, text, error, details=details, spans=spans),
                )
            )
        assert not more
        return name_of_call

    def shell(self, command: str, text: str, code: int | None = 0) -> str:
        """The agent runs a command."""
        details = {} if code is None else {"exit_code": code}
        return self.call(
            "Bash", {"command": command}, text, error=bool(code) if code is not None else None, details=details
        )

    def told(self, task: str, command: str, code: int) -> None:
        """A harness tells of a command that it ran for a task, and names no run."""
        at = len(self._items)
        self.call("deploy", {"command": command}, "", details={"exit_code": code, "command": command})
        call = msgspec.structs.replace(self._items[at + 1], generation=None, task=task)
        self._items[at:] = [call, *self._items[at + 2 :]]

    def mark(self, kind: str) -> None:
        """Something happens beside the conversation."""
        item, evidence, _ = self._place(kind)
        self._items.append(Mark(id=item, thread="main", at=self._tick(), evidence=(evidence,), kind=kind))

    def subagent(self, thread: str) -> None:
        """A sub-agent is there."""
        self._threads.append(Thread(id=thread, parent="main"))

    def timeline(self) -> Timeline:
        """All so far."""
        return Timeline(
            about=self._about,
            threads=tuple(self._threads),
            items=tuple(self._items),
            spent=Spent(),
            stated=tuple(self._stated),
        )

    def has(self, place: Provenance) -> bool:
        """Whether a pointer leads to bytes that are what it quotes."""
        evidence = place.evidence
        name = f"event:{evidence.sequence}" if evidence.side is Side.EVENT else evidence.source
        return name in self.bodies and stands(self.bodies[name], place)

    def check(self, artifacts: list[Artifact]) -> int:
        """Each pointer of each artifact resolves; how many there are."""
        places = [place for artifact in artifacts for place in artifact.provenance]
        assert all(self.has(place) for place in places)
        return len(places)

    def _say(self, role: Role, origin: Origin, text: str, generation: str | None, **more: Any) -> str:
        item, evidence, spans = self._place(text)
        given: dict[str, Any] = {"thread": "main", "at": self._tick(), "generation": generation, **more}
        parts = (Text(text, spans),)
        self._items.append(Message(id=item, evidence=(evidence,), role=role, origin=origin, parts=parts, **given))
        return item

    def _generation(self, thread: str = "main") -> str:
        item, evidence, _ = self._place("{}")
        self._items.append(
            Generation(
                id=item,
                thread=thread,
                at=self._tick(),
                evidence=(evidence,),
                purpose=Purpose.TURN,
                outcome=Outcome.COMPLETE,
                settings=Settings(),
                request_id=evidence.source,
                run=self._run,
                task=self._task,
            )
        )
        return item

    def _place(self, text: str) -> tuple[str, Evidence, tuple[Span, ...]]:
        number = len(self.bodies) + 1
        source, spelled = f"req_{number}", json.dumps(text).encode()
        self.bodies[source] = spelled
        end = len(spelled)
        evidence = Evidence(source=source, side=Side.REQUEST, start=0, end=end, segment=1, sequence=number)
        return f"item_{number}", evidence, (Span(0, len(text), 1, end - 1),) if text else ()

    def _tick(self) -> int:
        self._now += _SECOND
        return self._now
