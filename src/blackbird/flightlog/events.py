"""A timeline as the entries of a log, in order: all at once, or as its items come."""

from collections.abc import Iterable, Sequence

from blackbird.canon.model import (
    Amend,
    Call,
    Generation,
    Item,
    Mark,
    Message,
    Origin,
    Purpose,
    Result,
    Role,
    Thread,
)
from blackbird.deeds import roles
from blackbird.deeds.results import is_error
from blackbird.flightlog.entries import agents, answers, calls, marks, spending
from blackbird.flightlog.entries.agents import Agent, Agents
from blackbird.flightlog.entries.calling import Calling
from blackbird.flightlog.entries.line import Line, merged, spoken, tokens_of
from blackbird.flightlog.entries.marks import Modes
from blackbird.flightlog.entries.responses import Responses, Steps
from blackbird.flightlog.entries.words import note_of, summary_of, turns_of
from blackbird.flightlog.moments import stamp
from blackbird.timeline.timeline import Timeline
from blackbox.events import comments
from blackbox.events.build import Event
from blackbox.events.messages import Message as Said
from blackbox.events.messages import Thinking as Thought
from blackbox.syntax.results import Result as Outcome
from blackbox.write import results
from blackbox.write.scalars import MetaFields


def entries_of(timeline: Timeline, *, apart: bool = False) -> list[Line]:
    """The whole of a timeline. `apart`: each sub-agent has a log of its own, and lines say what they used."""
    composer = Composer(timeline.threads, timeline.about.mcp, model=first_model(timeline.items), apart=apart)
    return [*composer.feed(timeline.items), *composer.close()]


def first_model(items: Iterable[Item]) -> str | None:
    """The model that answered first."""
    models = (item.model for item in items if isinstance(item, Generation) and item.model and spending.is_own(item))
    return next(models, None)


class Composer:
    """Makes lines of items as they come.

    A call whose result follows directly is one line. Until what follows is known, the call is held; `settle` writes
    it as begun, for whoever cannot wait.
    """

    def __init__(
        self,
        threads: Iterable[Thread] = (),
        servers: Sequence[str] = (),
        *,
        model: str | None = None,
        apart: bool = False,
    ) -> None:
        self._agents = Agents(threads, apart=apart)
        self._servers = tuple(servers)
        self._apart = apart
        self._model = model
        self._main_model = model
        self._modes = Modes()
        self._calling = Calling()
        self._steps: dict[str, Steps] = {}
        self._responses = Responses()
        self._last: dict[str, str] = {}
        self._lines: list[Line] = []

    @property
    def logs(self) -> dict[str, Agent]:
        """The sub-agents that said or did something, by thread."""
        return self._agents.logs()

    def know(self, threads: Iterable[Thread]) -> None:
        """Take in threads that turned out."""
        self._agents.know(threads)

    def feed(self, news: Sequence[Item | Amend]) -> list[Line]:
        """The lines that are certain now."""
        self._responses.expect(news)
        for item in news:
            self._take(item)
        return self._drain()

    def settle(self) -> list[Line]:
        """What was held back, as it stands."""
        self._release()
        return self._drain()

    def close(self) -> list[Line]:
        """The session has ended: what is still open gets an end."""
        self._release()
        for call in self._calling.still_open:
            self._say(call.thread, call.missing(), call.stopped, is_inherited=call.is_inherited)
        for agent in self._agents.still_open:
            gone = self._agents.thread_of(agent) is None
            result = results.skip("no report was recorded")
            if not gone:
                result = agents.report("", self._session_of(agent))
            self._end_agent(agent, result, None)
        return self._drain()

    def _drain(self) -> list[Line]:
        lines, self._lines = self._lines, []
        return lines

    def _take(self, item: Item | Amend) -> None:
        match item:
            case Generation():
                self._generation(item)
            case Amend():
                self._amend(item)
            case Result():
                self._result(item)
                self._count(item)
            case _:
                self._release()
                self._enter(item)
                if isinstance(item, Message):
                    self._message(item)
                elif isinstance(item, Call):
                    self._call(item)
                else:
                    self._mark(item)
                self._count(item)

    def _count(self, item: Message | Call | Result | Mark) -> None:
        """One item less of its response; behind the last stand its figures."""
        if not isinstance(item, Mark):
            self._last[item.thread] = item.id
        generation = self._responses.taken(item)
        if generation is not None:
            self._figures(generation)

    def _enter(self, item: Item) -> None:
        """Write the line that begins a sub-agent before the first of its own; those above it come first."""
        for name in self._agents.unwritten(item.thread):
            agent = self._agents.found(name, is_inherited=item.is_inherited)
            start, scope = agents.start_of(agent), self._scope(agent)
            self._say(agent.parent, start, scope, at=item.at, is_inherited=item.is_inherited)

    def _scope(self, agent: Agent) -> MetaFields:
        return {"id": agent.id} if self._apart else self._agents.scope(agent)

    def _session_of(self, agent: Agent) -> str | None:
        """The id of a sub-agent's own log."""
        return f"sub-{agent.id}" if self._apart and self._agents.thread_of(agent) is not None else None

    def _end_agent(self, agent: Agent, result: Outcome, item: Result | None) -> None:
        meta, at, old = self._scope(agent), None, agent.is_inherited
        if item is not None:
            meta, at, old = {**meta, **answers.meta_of(item.result)}, item.at, item.is_inherited
        self._say(agent.parent, agents.end_of(agent, result), meta, at=at, is_inherited=old)

    def _tid(self, thread: str) -> MetaFields:
        agent = None if self._apart or self._agents.is_main(thread) else self._agents.find(thread)
        return {} if agent is None else {"tid": agent.number}

    def _message(self, item: Message) -> None:
        note = note_of(item, self._tid(item.thread).get("tid"))
        if note is not None:
            self._say(item.thread, note, {})
            return
        meta = self._about(item)
        if item.origin is Origin.SUMMARY:
            self._said(item, summary_of(item), meta)
            return
        if item.role is not Role.ASSISTANT:
            self._said(item, Said("user", spoken(item)), meta)
            return
        for event, more in turns_of(item):
            self._said(item, event, merged(meta, more))
            # The id and what a response used are said once.
            meta = {key: value for key, value in meta.items() if key in ("attempt", "interrupted")}  # type: ignore[assignment]  # a part of it

    def _said(self, item: Message, event: Event, meta: MetaFields) -> None:
        is_carrier = isinstance(event, Thought) or (isinstance(event, Said) and event.role == "agent")
        first = self._first_of(item, meta, is_carrier=is_carrier)
        key = item.generation or item.id
        self._say(item.thread, event, first, at=item.at, key=key, is_inherited=item.is_inherited)

    def _about(self, item: Message) -> MetaFields:
        """Id and parent of a message, and which attempt it belongs to."""
        meta: MetaFields = {"id": item.id}
        above = None if item.parent is None else self._calling.name_of(item.parent)
        if above is not None and (self._apart or item.parent != self._last.get(item.thread)):
            meta["parent"] = above
        self._calling.said(item.id)
        generation = self._responses.of(item)
        attempt = generation.attempt if generation is not None else 1
        if item.is_superseded:
            meta["attempt"] = attempt
            meta["interrupted"] = True
        elif attempt > 1:
            meta["attempt"] = attempt
        return meta

    def _first_of(self, item: Message | Call, meta: MetaFields, *, is_carrier: bool) -> MetaFields:
        """The metadata of a line, with what its response used if it is the first of it, in a log of its own.

        Programs look for that on messages and calls: before a line that is neither, a message without words has it.
        """
        generation = self._responses.of(item)
        if generation is None:
            return meta
        is_first = self._responses.step_of(generation) is None
        if is_first:
            self._switch(generation)
        if not self._apart:
            other = self._other_model(generation)
            return meta if other is None else {**meta, "model": other}
        named: MetaFields = {**meta, **spending.named(generation, self._main_model, meta)}
        if is_first and generation.usage is not None and not self._responses.is_told(generation):
            if is_carrier:
                return merged(named, tokens_of(generation.usage))
            self._wordless(generation, item.thread, item.at)
        return named

    def _wordless(self, generation: Generation, thread: str, at: int | None) -> None:
        """A message without words, for what a response used that has none."""
        used = MetaFields() if generation.usage is None else tokens_of(generation.usage)
        meta = merged(spending.named(generation, self._main_model, {}), used)
        if not spending.is_own(generation):
            meta["extra"] = {**meta["extra"], "purpose": generation.purpose.value}
        old = generation.is_inherited
        self._say(thread, Said("agent", ""), meta, at=at, key=generation.id, is_inherited=old)

    def _switch(self, generation: Generation) -> None:
        """The session goes on with another model. Those of sub-agents and side calls change nothing there."""
        is_session = generation.purpose is Purpose.TURN and self._agents.is_main(generation.thread)
        if is_session and generation.model and generation.model != self._model:
            if self._model is not None:
                self._say(generation.thread, comments.ModelSwitch(generation.model, None), {})
            self._model = generation.model

    def _other_model(self, generation: Generation) -> str | None:
        """The model of a response, if it is not the one that the session goes on with."""
        return generation.model if generation.model and generation.model != self._model else None

    def _call(self, item: Call) -> None:
        role = roles.role_of(item.call.name, self._servers)
        if self._agents.begins(item.call_id) and not self._agents.is_under_way(item.call_id):
            role = roles.Role(roles.Use.SUBAGENT)
        elif role.use is roles.Use.SUBAGENT and self._agents.is_under_way(item.call_id):
            role = roles.Role(roles.Use.TOOL)
        is_plain = role.use in (roles.Use.TOOL, roles.Use.MCP) and item.call.arguments is not None
        used = self._first_of(item, calls.asked_of(role), is_carrier=is_plain)
        key, old = item.generation or item.id, item.is_inherited
        open_call = self._calling.begin(item, role, self._agents.kind_of(item.call_id))
        meta: MetaFields = {**used, "id": open_call.id}
        if item.is_superseded:
            generation = self._responses.of(item)
            meta = {**meta, "attempt": generation.attempt if generation is not None else 1, "interrupted": True}
            skipped = results.skip("a later attempt took its place")
            skip = calls.ended(open_call.event, skipped)
            self._say(item.thread, skip, meta, at=item.at, key=key, is_inherited=old)
            open_call.is_open = False
            return
        for event, about in open_call.opening(self._modes):
            self._say(item.thread, event, {**used, **about}, at=item.at, key=key, is_inherited=old)
            used = {}
        if open_call.is_held:
            self._calling.hold(open_call, meta)
            # Its step begins here, whatever comes before its line is written.
            self._step(item.thread, key)
        if item.generation is not None:
            self._responses.stands(item.generation, self._step(item.thread, key))

    def _release(self, result: Result | None = None) -> None:
        """Write the call that was held: with its result if that is what follows, or else as begun."""
        held = self._calling.release()
        if held is None:
            return
        call, meta, behind = held
        at, old = call.at, call.is_inherited
        if call.is_subagent and result is None:
            kind = call.event.agent_type  # type: ignore[union-attr]  # a sub-agent's
            agent = self._agents.called(call.call_id, call.id, kind, call.thread, is_inherited=old)
            meta = {**meta, **self._scope(agent)}
        if result is None:
            self._say(call.thread, calls.begun(call.event), meta, at=at, is_inherited=old)
        else:
            ended = calls.ended(call.event, call.outcome(result))
            self._say(call.thread, ended, merged(meta, call.closing(result)), at=at, is_inherited=old)
            call.is_open = False
        self._lines += behind

    def _result(self, item: Result) -> None:
        call = self._calling.answered(item)
        if call is not None and self._calling.is_held(call):
            self._release(item)
            return
        self._release()
        self._enter(item)
        old = item.is_inherited
        if call is None:
            call = self._calling.unknown(item)
            meta: MetaFields = {"id": call.id, "extra": {"call": "unrecorded"}}
            meta = merged(answers.meta_of(item.result), meta)
            orphan = calls.ended(call.event, call.outcome(item))
            self._say(item.thread, orphan, meta, at=item.at, key=item.id, is_inherited=old)
            return
        agent = self._agents.by_call(call.call_id) if call.is_subagent else None
        if agent is not None:
            call.is_open = False
            result = answers.result_of(item.result)
            if not is_error(item.result):
                result = agents.report(answers.text_of(item.result), self._session_of(agent))
            self._end_agent(agent, result, item)
            return
        for event, meta in call.ending(item, self._modes):
            self._say(call.thread, event, meta, at=item.at, is_inherited=old)

    def _generation(self, item: Generation) -> None:
        if self._responses.is_complete(item):
            self._figures(item)

    def _figures(self, generation: Generation) -> None:
        """What a response used and how it came out, behind the last of its lines."""
        if not self._responses.tell(generation):
            return
        step = self._responses.step_of(generation)
        lines: list[Line] = []
        if step is None:
            self._release()
            self._enter(generation)
            lines = self._silent(generation)
        else:
            lines += self._metrics(generation, step, with_tokens=not self._apart)
        note = spending.failure_note(generation)
        lines += [Line(generation.thread, note, {})] if note is not None else []
        if not self._calling.behind(lines):
            self._lines += lines

    def _silent(self, generation: Generation) -> list[Line]:
        """A response without lines of its own: a side call, or one that failed."""
        if generation.usage is None:
            return [Line(generation.thread, spending.silent_comment(generation), {})]
        self._switch(generation)
        if not self._apart:
            return self._metrics(generation, None, with_tokens=True)
        self._wordless(generation, generation.thread, generation.at)
        return self._metrics(generation, self._responses.step_of(generation), with_tokens=False)

    def _metrics(self, generation: Generation, step: int | None, *, with_tokens: bool) -> list[Line]:
        model = self._other_model(generation) if with_tokens else None
        metrics = spending.metrics_comment(generation, step, with_tokens=with_tokens, model=model)
        return [] if metrics is None else [Line(generation.thread, metrics, {})]

    def _mark(self, item: Mark) -> None:
        if item.kind == "model" and item.text:
            is_session = self._agents.is_main(item.thread)
            if item.text == self._model or not (is_session or self._apart):
                return
            self._model = item.text if is_session else self._model
        for event in marks.events_of(item, self._modes):
            self._say(item.thread, event, {}, at=item.at, is_inherited=item.is_inherited)

    def _amend(self, item: Amend) -> None:
        if item.call_id is not None:
            self._calling.rename(item.id, item.call_id)
        if item.usage is not None:
            generation = self._responses.amend(item.id, item.usage)
            if generation is not None:
                self._figures(generation)
        if item.is_superseded:
            call = self._calling.by_item(item.id)
            if call is not None and call.is_open:
                self._release()
                call.is_open = False
                self._say(call.thread, call.superseded(), call.stopped, is_inherited=call.is_inherited)

    def _step(self, thread: str, key: str | None) -> int:
        steps = self._steps.setdefault(thread if self._apart else "", Steps())
        return steps.now if key is None else steps.take(key)

    def _say(
        self,
        thread: str,
        event: Event,
        meta: MetaFields,
        *,
        at: int | None = None,
        key: str | None = None,
        is_inherited: bool = False,
    ) -> None:
        """One line; those that are no comments have a step, the word that another session wrote them, and a time."""
        if isinstance(event, comments.Comment):
            self._lines.append(Line(thread, event, {}))
            return
        if is_inherited:
            meta = {**meta, "extra": {**meta.get("extra", {}), "inherited": True}}
        more: MetaFields = {} if "tid" in meta else self._tid(thread)
        step = self._step(thread, key)
        if key is not None:
            self._responses.stands(key, step)
        stamped: MetaFields = {**meta, **more, "step": step}
        when = stamp(at)
        if when is not None:
            stamped["ts"] = when
        self._lines.append(Line(thread, event, stamped))
