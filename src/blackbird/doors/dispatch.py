"""A call of a tool by its name and arguments, answered the same through every door; its errors have types."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from blackbird.artifacts import shortening
from blackbird.artifacts.model import Type
from blackbird.doors import answers, bounds, schema
from blackbird.doors.answer import INVALID_ARGUMENTS, UNKNOWN_TOOL, Answer, failed
from blackbird.doors.budget import Budget
from blackbird.doors.scope import asker
from blackbird.pack.model import Pack
from blackbird.recall.model import Whole
from blackbird.recall.whose import Whose
from blackbird.retrieve.model import Found, Neighbour
from blackbird.tokens import Counter, Plain
from blackbox.errors import BlackboxError

#: How many tokens an answer takes at most, as text and as JSON. A pack has its own budget, and this above it.
MOST_TOKENS = {"memory_search": 1500, "memory_get": 2000, "memory_related": 1500, "memory_context_for_task": 150}
#: Room for what is said at the end of an answer.
_TAIL_TOKENS = 60
_encode = msgspec.json.Encoder().encode


class Source(Protocol):
    """What answers one asker: the read path of the memory."""

    def search(
        self,
        text: str,
        *,
        session: str | None = None,
        task: str | None = None,
        k: int | None = None,
        types: Sequence[Type] = (),
        everywhere: bool = False,
    ) -> Found:
        """Search."""

    def get(self, identifier: str) -> Whole:
        """One artifact."""

    def related(self, identifier: str, k: int | None = None) -> list[Neighbour]:
        """What has to do with it."""

    def context(
        self,
        *,
        session: str | None = None,
        task: str | None = None,
        description: str | None = None,
        folder: str | None = None,
        budget: int | None = None,
    ) -> Pack:
        """A pack."""


class Sources(Protocol):
    """The memory, whoever asks."""

    def of(self, whose: Whose) -> Source:
        """What answers one asker."""

    def knows(self, session: str) -> bool:
        """Whether there is a session of that name."""


class Dispatcher:
    """Answers calls out of one memory. Several threads may call."""

    def __init__(
        self,
        sources: Sources,
        variables: Mapping[str, str],
        folder: str | None = None,
        counter: Counter | None = None,
    ) -> None:
        """`folder` is where the asker works, if one asker alone has this process."""
        self._sources = sources
        self._variables = variables
        self._folder = folder
        self._counter = counter or Plain()
        self._budget = Budget()
        self._lock = threading.Lock()

    def call(
        self, name: str, arguments: Mapping[str, Any] | str | None = None, meta: Mapping[str, Any] | None = None
    ) -> Answer:
        """Run one call. Arguments are an object, or the text of one; `meta` is what the client sent beside them."""
        tool = schema.find(name)
        if tool is None:
            names = ", ".join(schema.BY_NAME)
            return failed(UNKNOWN_TOOL, f"there is no tool {answers.one_line(name)[:80]!r}", f"the tools are {names}")
        try:
            asked = read(tool, arguments)
        except (msgspec.MsgspecError, RecursionError) as error:
            return failed(INVALID_ARGUMENTS, str(error)[:300], _usage(tool))
        try:
            who = asker(meta or {}, self._variables, self._sources.knows)
            source = self._sources.of(msgspec.structs.replace(who, folder=self._folder))
            values = self._values(asked, source, who)
        except BlackboxError as error:
            return failed(error.code, error.message, error.remedy)
        with self._lock:
            beyond = self._budget.spend(tool.name, who)
        return self._told(values, beyond)

    def _values(self, asked: object, source: Source, who: Whose) -> dict[str, Any]:
        match asked:
            case schema.Search():
                return self._search(asked, source)
            case schema.Get():
                return self._get(asked, source)
            case schema.Related():
                return self._related(asked, source)
            case schema.Context():
                return self._context(asked, source, who)
            case _:
                raise AssertionError(f"a tool without an answer: {asked!r}")

    def _search(self, asked: schema.Search, source: Source) -> dict[str, Any]:
        found = source.search(
            asked.query,
            session=asked.session,
            task=asked.task,
            k=asked.k,
            types=asked.types or (),
            everywhere=bool(asked.everywhere),
        )
        return self._listed(found.cards, lambda cards: answers.found(found, cards), "memory_search")

    def _get(self, asked: schema.Get, source: Source) -> dict[str, Any]:
        return bounds.fit(
            answers.whole(source.get(asked.id)), self._measure, MOST_TOKENS["memory_get"] - _TAIL_TOKENS
        )

    def _related(self, asked: schema.Related, source: Source) -> dict[str, Any]:
        near = source.related(asked.id, asked.k)
        return self._listed(near, lambda shown: answers.neighbours(shown, len(near)), "memory_related")

    def _context(self, asked: schema.Context, source: Source, who: Whose) -> dict[str, Any]:
        is_ours = asked.session is None and who.session is not None
        pack = source.context(
            session=asked.session,
            # Another task of this session is asked for by its name alone.
            task=asked.task or (who.task if is_ours else None),
            description=asked.description,
            folder=self._folder,
            budget=asked.budget,
        )
        return answers.pack(pack)

    def _listed(
        self, items: Sequence[Any], build: Callable[[Sequence[Any]], dict[str, Any]], tool: str
    ) -> dict[str, Any]:
        return bounds.first_that_fit(items, build, self._measure, MOST_TOKENS[tool] - _TAIL_TOKENS)

    def _measure(self, values: dict[str, Any]) -> int:
        """What an answer takes: the longer of its two forms, since clients show their models either."""
        return max(self._counter.count(answers.text(values)), self._counter.count(_encode(values).decode()))

    def _told(self, values: dict[str, Any], beyond: str) -> Answer:
        values = _visible(values)
        if beyond:
            values = {**values, "note": beyond}
        values = {**values, "tokens": self._measure(values)}
        text = answers.text({key: value for key, value in values.items() if key not in ("note", "tokens")})
        tail = " ".join(filter(None, (f"[{values['tokens']} tokens]", beyond)))
        return Answer(values=values, text=f"{text}\n{tail}")


def _visible(value: Any) -> Any:
    """A value with blanks for what is not seen in its texts, line by line."""
    if isinstance(value, str):
        return "\n".join(map(shortening.visible, value.split("\n")))
    if isinstance(value, dict):
        return {key: _visible(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_visible(each) for each in value]
    return value


def read(tool: schema.Tool, arguments: Mapping[str, Any] | str | None) -> object:
    """The arguments of a tool, checked. Raises `msgspec.MsgspecError`, or `RecursionError` if nested too deep."""
    values: Any = msgspec.json.decode(arguments or "{}") if isinstance(arguments, str | None) else arguments
    return msgspec.convert(values, tool.arguments, strict=False)


def _usage(tool: schema.Tool) -> str:
    required = tool.schema["required"]
    words = [name if name in required else f"{name}?" for name in tool.schema["properties"]]
    return f"{tool.name}({', '.join(words)})"
