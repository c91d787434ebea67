"""Files a session touched, as its calls name them: by tool, and by arguments that are paths."""

import enum
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from blackbox.events.calls import Plan
from blackbox.session.calls import Call, Status
from blackbox.syntax.kinds import Kind
from blackbox.syntax.tokens import Value


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
    def is_modified(self) -> bool:
        """Whether a call that did not fail wrote, edited or deleted it; `p:file` only names a plan file."""
        return any(
            access in _MODIFYING and call.status not in _VOID and (access, call.name) != (Access.PLAN, "file")
            for access, call in self.touches
        )


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
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_TOOL_KINDS = (Kind.TOOL, Kind.MCP)


def files_of(calls: Iterable[Call]) -> dict[str, TouchedFile]:
    """The touched files by path, in the order they were first touched. Shell commands are not taken apart."""
    found: dict[str, list[Touch]] = {}
    plan_file: str | None = None
    for call in calls:
        if call.kind is Kind.PLAN:
            event = call.line.event
            assert isinstance(event, Plan)  # noqa: S101 - a plan line has no other event; for the type checker
            plan_file = event.path or plan_file
            if plan_file and event.action in ("file", "write"):
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
        if path and "\n" not in path and not _SCHEME.match(path):
            yield path
