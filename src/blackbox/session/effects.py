"""What the calls of a session come to: plans and recalls, files touched, failures."""

import enum
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from blackbox.document.line import Line
from blackbox.events.calls import Arguments, Recall
from blackbox.session.calls import Call, Status
from blackbox.session.lines import Lines
from blackbox.syntax.kinds import Kind
from blackbox.syntax.tokens import Value
from blackbox.syntax.values import has_scheme


class Plan:
    """A plan: the `p:` lines with one id are its history. Without ids, `p:create` begins the next plan."""

    def __init__(self, plan_id: str | None) -> None:
        self.id = plan_id
        self.calls: list[Call] = []
        #: The plan file named when the plan was written.
        self.path: str | None = None

    def __repr__(self) -> str:
        return f"Plan({self.id!r}, {self.actions!r})"

    @property
    def actions(self) -> tuple[str, ...]:
        """`create`, `update`, `write`, `complete`, in order."""
        return tuple(call.name for call in self.calls)

    @property
    def title(self) -> str | None:
        """The first title given."""
        return next((call.arguments.words for call in self.calls if call.arguments.words), None)

    @property
    def is_complete(self) -> bool:
        """Whether it was completed."""
        return "complete" in self.actions


class Recalled(NamedTuple):
    """What was looked up in memory: the queries, how many matches the log counts, and those it shows."""

    call: Call
    queries: tuple[str, ...]
    matched: int | None
    matches: tuple[str, ...]


def plans_of(calls: Iterable[Call]) -> tuple[Plan, ...]:
    """The plans in order; `p:file` lines name a file and make no plan."""
    found: list[Plan] = []
    by_id: dict[str | None, Plan] = {}
    for call, path in _with_plan_file(calls):
        if call.kind is not Kind.PLAN or call.name == "file":
            continue
        if call.id not in by_id or (call.id is None and call.name == "create"):
            by_id[call.id] = Plan(call.id)
            found.append(by_id[call.id])
        plan = by_id[call.id]
        plan.calls.append(call)
        plan.path = path if call.name == "write" else plan.path
    return tuple(found)


def plan_files_of(calls: Iterable[Call]) -> tuple[str, ...]:
    """The files that `p:file` names, each once."""
    return tuple(dict.fromkeys(path for _, path in _with_plan_file(calls) if path))


def _with_plan_file(calls: Iterable[Call]) -> Iterator[tuple[Call, str | None]]:
    """Every call with the plan file in force there: the last one that a `p:` line has named."""
    path: str | None = None
    for call in calls:
        if call.kind is Kind.PLAN:
            path = call.arguments.text("path") or path
        yield call, path


def recalls_of(calls: Iterable[Call]) -> tuple[Recalled, ...]:
    """The recalls in order."""
    found: list[Recalled] = []
    for call in calls:
        event = call.line.event if call.kind is Kind.RECALL else None
        if isinstance(event, Recall):
            result = call.result
            shown = result.text.split("\n")[1:] if result is not None else []
            matches = tuple(text for line in shown if (text := line.strip()))
            found.append(Recalled(call, event.queries, result.count if result is not None else None, matches))
    return tuple(found)


class Access(enum.StrEnum):
    """How a call touched a path."""

    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    DELETE = "delete"
    SEARCH = "search"
    PLAN = "plan"
    #: The call names the path; what it did there, the log does not say.
    NAMED = "named"


class Touch(NamedTuple):
    """One touch of a file: how, and by which call."""

    access: Access
    call: Call


class TouchedFile(NamedTuple):
    """A path as it is written in the log, and its touches in order."""

    path: str
    touches: tuple[Touch, ...]

    @property
    def accesses(self) -> frozenset[Access]:
        """All the ways in which it was touched."""
        return frozenset(touch.access for touch in self.touches)

    @property
    def changes(self) -> tuple[Touch, ...]:
        """The touches that were to write, edit or delete it, failed ones too; `p:file` only names a plan file."""
        return tuple(
            touch
            for touch in self.touches
            if touch.access in _MODIFYING and (touch.access, touch.call.name) != (Access.PLAN, "file")
        )

    @property
    def is_modified(self) -> bool:
        """Whether a call that did not fail wrote, edited or deleted it."""
        return any(call.status not in _VOID and not call.is_unknown for _, call in self.changes)

    @property
    def is_unknown(self) -> bool:
        """Whether no call is known to have changed it, and of one nobody knows how it came out."""
        return not self.is_modified and any(call.is_unknown for _, call in self.changes)


_MODIFYING = frozenset({Access.WRITE, Access.EDIT, Access.DELETE, Access.PLAN})
_VOID = frozenset({Status.ERR, Status.SKIP})
#: Tool names without case, dashes and underscores.
_TOOLS = {
    "read": Access.READ,
    "readfile": Access.READ,
    "view": Access.READ,
    "cat": Access.READ,
    "notebookread": Access.READ,
    "write": Access.WRITE,
    "writefile": Access.WRITE,
    "create": Access.WRITE,
    "createfile": Access.WRITE,
    "edit": Access.EDIT,
    "editfile": Access.EDIT,
    "multiedit": Access.EDIT,
    "notebookedit": Access.EDIT,
    "strreplace": Access.EDIT,
    "patch": Access.EDIT,
    "applypatch": Access.EDIT,
    "delete": Access.DELETE,
    "deletefile": Access.DELETE,
    "remove": Access.DELETE,
    "grep": Access.SEARCH,
    "rg": Access.SEARCH,
    "glob": Access.SEARCH,
    "ls": Access.SEARCH,
    "search": Access.SEARCH,
}
_KEYS = ("file_path", "path", "notebook_path", "file", "filename", "files", "paths")
#: These take patterns or folders by position, not files.
_SEARCHES = frozenset({"grep", "rg", "glob", "search"})
_TOOL_KINDS = (Kind.TOOL, Kind.MCP)


def files_of(calls: Iterable[Call]) -> dict[str, TouchedFile]:
    """The touched files by path, in the order they were first touched. Shell commands are not taken apart."""
    found: dict[str, list[Touch]] = {}
    for call, plan_file in _with_plan_file(calls):
        if call.kind is Kind.PLAN:
            if plan_file and call.name in ("file", "write"):
                found.setdefault(plan_file, []).append(Touch(Access.PLAN, call))
        elif call.kind in _TOOL_KINDS:
            access, paths = _touched(call)
            for path in paths:
                found.setdefault(path, []).append(Touch(access, call))
    return {path: TouchedFile(path, tuple(touches)) for path, touches in found.items()}


def _touched(call: Call) -> tuple[Access, Iterable[str]]:
    tool = _plain_name(call.name)
    access = _TOOLS.get(tool, Access.NAMED)
    arguments = call.arguments
    paths = [path for key in _KEYS for path in _paths(arguments.keyword.get(key, ()))]
    takes_position = tool in _TOOLS and tool not in _SEARCHES and call.kind is Kind.TOOL
    if not paths and takes_position and arguments.positional:
        paths = list(_paths(arguments.positional[0]))
    return access, dict.fromkeys(paths)


def _plain_name(name: str) -> str:
    """`Read`, `read_file`, `fs.read-file` and `mcp__fs__read_file` by what they do."""
    last = re.split(r"__|\.", name)[-1]
    return last.replace("_", "").replace("-", "").lower()


def _paths(value: Value) -> Iterator[str]:
    for path in (value,) if isinstance(value, str) else value:
        if path and "\n" not in path and not has_scheme(path):
            yield path


class Failure(NamedTuple):
    """An error: its message, the line that reports it, and the call that failed, if it was one."""

    message: str
    line: Line
    call: Call | None = None


def failures_of(lines: Lines, calls: Iterable[Call]) -> tuple[Failure, ...]:
    """The errors in order of their lines.

    A call counts by its outcome: one that succeeded in the end is no error, whatever its first attempt was (its
    `attempts` keep that). A `level=error` line of a call that failed is that call's error and not a second one.
    """
    found: list[Failure] = []
    reported: set[Line] = set()
    for call in calls:
        if call.status is Status.ERR:
            found.append(_of_call(call))
            reported.update(call.lines)
    found += [
        Failure(_message(line), line)
        for line in lines.containing("level=")
        if line not in reported and line.meta.level == "error"
    ]
    return tuple(sorted(found, key=lambda failure: lines.positions[failure.line]))


def _message(line: Line) -> str:
    """What a line says, without its metadata."""
    if line.result is not None:
        return line.result.text
    arguments = getattr(line.event, "arguments", None)
    return arguments.words or line.name if isinstance(arguments, Arguments) else line.parts.text


def _of_call(call: Call) -> Failure:
    result = call.result
    message = (result.detail or result.text) if result is not None else ""
    return Failure(message, call.result_line or call.line, call)
