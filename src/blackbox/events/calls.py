"""Calls and their answers: tools, observations, skills, plans, recalls, sub-agents, MCP, questions, modes."""

from collections.abc import Iterable

import msgspec

from blackbox.syntax.results import Result, ResultKind
from blackbox.syntax.tokens import Token, Value, unquote
from blackbox.syntax.values import boolean


class Arguments(msgspec.Struct, frozen=True):
    """Positional and keyword values, in the order written. Metadata is not among them."""

    positional: tuple[Value, ...] = ()
    keyword: dict[str, Value] = msgspec.field(default_factory=dict)

    def text(self, key: str) -> str | None:
        """A keyword value as one string."""
        value = self.keyword.get(key)
        return value if value is None or isinstance(value, str) else ", ".join(value)

    @property
    def words(self) -> str:
        """The positional values as one string."""
        return " ".join(value if isinstance(value, str) else ", ".join(value) for value in self.positional)


class ToolCall(msgspec.Struct, frozen=True):
    """A `t:` line, or the start (`t!:`) or progress (`t~:`) of one. `stage` is call, start or progress."""

    name: str
    arguments: Arguments
    result: Result | None
    stage: str = "call"


class McpCall(msgspec.Struct, frozen=True):
    """A `c:server.method` line."""

    server: str
    method: str
    arguments: Arguments
    result: Result | None


class Observation(msgspec.Struct, frozen=True):
    """An `o:` line: the result of an earlier call, or with `partial` a piece of its output."""

    partial: str | None
    arguments: Arguments
    result: Result | None


class Skill(msgspec.Struct, frozen=True):
    """An `s:name action` line."""

    name: str
    action: str | None
    arguments: Arguments
    result: Result | None


class Plan(msgspec.Struct, frozen=True):
    """A `p:action` line. `path` is set on `p:file`, the plan file of plan mode."""

    action: str
    title: str | None
    path: str | None
    arguments: Arguments
    result: Result | None


class Recall(msgspec.Struct, frozen=True):
    """An `r:` line: what was looked up in memory, and what came back."""

    queries: tuple[str, ...]
    arguments: Arguments
    result: Result | None


class Subagent(msgspec.Struct, frozen=True):
    """An `x:` line. The reference to the sub-agent's own log stands in its result."""

    agent_type: str
    task: str | None
    arguments: Arguments
    result: Result | None
    session_id: str | None = None
    path: str | None = None
    summary: str | None = None


class Mode(msgspec.Struct, frozen=True):
    """An `m:` line. `afk` says that questions will not wait for a human."""

    name: str
    afk: bool
    arguments: Arguments
    comment: str | None = None


class Answer(msgspec.Struct, frozen=True):
    """How a question stands: pending, selected, auto (decided without a human) or answered in free text."""

    kind: str
    selected: tuple[str, ...] = ()
    reason: str | None = None
    text: str = ""


class Question(msgspec.Struct, frozen=True):
    """A `q:` line: the question, or with an id alone the answer to an earlier one."""

    text: str | None
    options: tuple[str, ...]
    multi: bool
    arguments: Arguments
    result: Result | None
    answer: Answer | None


def arguments_of(tokens: Iterable[Token]) -> Arguments:
    """Split lexed words into positional and keyword values; of equal keys the last wins."""
    positional: list[Value] = []
    keyword: dict[str, Value] = {}
    for token in tokens:
        if token.key is None:
            positional.append(token.value)
        else:
            keyword[token.key] = token.value
    return Arguments(tuple(positional), keyword)


def build_mcp(name: str, arguments: Arguments, result: Result | None) -> McpCall:
    """`c:github.pr create …`: the server ends at the first dot."""
    server, _, method = name.partition(".")
    return McpCall(server, method, arguments, result)


def build_skill(name: str, arguments: Arguments, result: Result | None) -> Skill:
    """The first word behind the name is the action."""
    action = arguments.positional[0] if arguments.positional else None
    return Skill(name, action if isinstance(action, str) else None, arguments, result)


def build_plan(action: str, arguments: Arguments, result: Result | None) -> Plan:
    """The positional words are the title (or, for `p:write`, the plan itself)."""
    return Plan(action, arguments.words or None, arguments.text("path"), arguments, result)


def build_recall(arguments: Arguments, result: Result | None) -> Recall:
    """Each quoted string or word is a query."""
    queries = tuple(value if isinstance(value, str) else ", ".join(value) for value in arguments.positional)
    return Recall(queries, arguments, result)


def build_subagent(agent_type: str, arguments: Arguments, result: Result | None) -> Subagent:
    """The positional words are the task; `session_id=`, `path=` and `summary=` stand in the result."""
    fields = _texts(result.tokens) if result is not None and "=" in result.text else {}
    return Subagent(
        agent_type,
        arguments.words or None,
        arguments,
        result,
        fields.get("session_id"),
        fields.get("path"),
        fields.get("summary"),
    )


def build_mode(name: str, arguments: Arguments, comment: str | None) -> Mode:
    """`m:auto afk=true`."""
    return Mode(name, boolean(arguments.text("afk")) is True, arguments, comment)


def build_observation(arguments: Arguments, result: Result | None) -> Observation:
    """`o: id=… partial="…"` or `o: id=… → result`."""
    return Observation(arguments.text("partial"), arguments, result)


def build_question(arguments: Arguments, result: Result | None) -> Question:
    """The positional words are the question."""
    options = arguments.keyword.get("options", ())
    return Question(
        arguments.words or None,
        (options,) if isinstance(options, str) else options,
        boolean(arguments.text("multi")) is True,
        arguments,
        result,
        _answer(result),
    )


def _answer(result: Result | None) -> Answer | None:
    if result is None:
        return None
    if result.kind in (ResultKind.SELECTED, ResultKind.AUTO):
        return Answer(result.kind.value, result.choices, result.reason)
    if result.kind is ResultKind.PENDING:
        return Answer("pending")
    text = unquote(result.raw, escaped=True) if result.raw else unquote(result.text)
    return Answer("text", text=text)


def _texts(tokens: list[Token]) -> dict[str, str]:
    return {token.key: token.text for token in tokens if token.key is not None}
