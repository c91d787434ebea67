"""Messages, thoughts, todos, questions, modes and phases."""

from collections.abc import Iterable, Sequence
from typing import Unpack

from blackbox.events import calls, lifecycle
from blackbox.events.comments import Metrics
from blackbox.events.messages import Message, Thinking, Todo
from blackbox.syntax.results import Result
from blackbox.write import results
from blackbox.write.base import Base, arguments_of
from blackbox.write.scalars import Argument, MetaFields
from blackbox.write.todos import todos_of


class Talk(Base):
    """What the user and the agent say to each other."""

    def user(self, text: str, **meta: Unpack[MetaFields]) -> None:
        """`u: Fix the login bug`."""
        self._append(Message("user", text), meta)

    def agent(self, text: str, *, metrics: Metrics | None = None, **meta: Unpack[MetaFields]) -> None:
        """`a: Looking.`, with what the answer cost where `metrics` tells."""
        self._append(Message("agent", text, metrics), meta)

    def thinking(self, text: str, **meta: Unpack[MetaFields]) -> None:
        """`th: Let me see…`; `sig=` is the provider's signature of the block."""
        self._append(Thinking(text), meta)

    def todos(self, items: Iterable[Todo | tuple[str, str]], **meta: Unpack[MetaFields]) -> None:
        """`td: [in_progress] Fix login [pending] Add tests`: the whole list as it stands, as (status, text)."""
        self._append(todos_of(item if isinstance(item, Todo) else Todo(*item) for item in items), meta)

    def mode(self, name: str, *, afk: bool = False, comment: str | None = None, **meta: Unpack[MetaFields]) -> None:
        """`m:auto afk=true`. While the user is away, questions are written as not blocking."""
        arguments = arguments_of((), {"afk": afk or None})
        self._append(calls.build_mode(name, arguments, comment), meta)
        self._recording.is_afk = afk

    def phase(
        self,
        name: str,
        *,
        approved: bool | None = None,
        swarm: bool | None = None,
        teammates: int | None = None,
        comment: str | None = None,
        **meta: Unpack[MetaFields],
    ) -> None:
        """`@phase explore`, `@phase exit approved=true`."""
        arguments = arguments_of((name,), {"approved": approved, "swarm": swarm, "teammates": teammates})
        primitive = lifecycle.build_primitive("phase", arguments, {}, None)
        self._append(lifecycle.Lifecycle("phase", primitive, arguments, None, comment), meta)

    def ask(
        self,
        text: str,
        *,
        options: Sequence[str] = (),
        multi: bool = False,
        meta: MetaFields | None = None,
        **more: Argument,
    ) -> "OpenQuestion":
        """`q: id=q_1 "Which database?" options=["Postgres", "SQLite"] → [pending]`.

        While the user is away (`mode(…, afk=True)`) the question is written `[auto]`: it blocks nobody.
        """
        name = self._next_id("q_", meta)
        keyword: dict[str, Argument] = {"options": tuple(options) or None, "multi": multi or None}
        result = results.auto() if self._recording.is_afk else results.pending()
        event = calls.build_question(arguments_of((text,), keyword, more), result)
        self._append(event, meta, id=name)
        return OpenQuestion(self, name)


class OpenQuestion:
    """A question that has been asked. It may be answered more than once: by the agent, later by a human."""

    def __init__(self, log: Talk, name: str) -> None:
        self.id = name
        self._log = log

    def __str__(self) -> str:
        return self.id

    def select(self, *choices: str, **meta: Unpack[MetaFields]) -> None:
        """`q: id=q_1 → [selected: Auth, API]`."""
        self._answer(results.selected(*choices), meta)

    def auto(self, *choices: str, reason: str, **meta: Unpack[MetaFields]) -> None:
        """`q: id=q_1 → [auto: OAuth, reason="…"]`: decided without a human, and why."""
        self._answer(results.auto(*choices, reason=reason), meta)

    def answer(self, text: str, **meta: Unpack[MetaFields]) -> None:
        """`q: id=q_1 → "About 1000 req/s"`."""
        self._answer(results.answer(text), meta)

    def _answer(self, result: Result, meta: MetaFields) -> None:
        meta["id"] = self.id
        self._log.append(calls.build_question(calls.Arguments(), result), **meta)
