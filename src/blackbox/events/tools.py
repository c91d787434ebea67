"""What a tool does, told by its name (read, write, edit, delete, search, run a command), and to what.

The names are those of many agents' tools, in the table beside this module.
"""

import enum
import functools
import importlib.resources
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from blackbox.syntax.values import has_scheme

_BETWEEN = re.compile(r"[^a-z0-9]+")
_SERVER = re.compile(r"__|\.")
#: How the text of a patch names a file, and what is done to it.
_PATCHED = re.compile(
    r"^(?:\*\*\* (?P<verb>Add File|Update File|Delete File|Move to): |\+\+\+ (?!/dev/null)(?:b/)?)(?P<path>[^\t\n]+)",
    re.MULTILINE,
)


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


MODIFYING = frozenset({Access.WRITE, Access.EDIT, Access.DELETE, Access.PLAN})
_VERBS = {"Add File": Access.WRITE, "Move to": Access.WRITE, "Delete File": Access.DELETE}
_ACCESSES = {
    "read": Access.READ,
    "write": Access.WRITE,
    "edit": Access.EDIT,
    "delete": Access.DELETE,
    "search": Access.SEARCH,
    "list": Access.SEARCH,
}


class Keys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which arguments of a tool say what, best first."""

    paths: tuple[str, ...]
    commands: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    patches: tuple[str, ...]


class _Names(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    names: frozenset[str]


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    read: _Names
    write: _Names
    edit: _Names
    delete: _Names
    search: _Names
    list: _Names
    editor: _Names
    command: _Names
    arguments: Keys


class Patched(NamedTuple):
    """A file that a patch names, and what is done to it."""

    access: Access
    path: str


@functools.lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """`Read`, `read_file`, `fs.read-file` and `mcp__fs__read_file` by what they do."""
    return spelled(_SERVER.split(name)[-1])


def spelled(key: str) -> str:
    """A name or key as the table has it: `filePath` is `file_path`."""
    return _BETWEEN.sub("", key.lower())


def access_of(name: str, given: Mapping[str, Any] | None = None) -> Access:
    """How a tool touches the paths that it is given."""
    tool = plain(name)
    if tool in table().editor.names and given is not None:
        tool = spelled(str(given.get("command")))
    return _by_name().get(tool, Access.NAMED)


def is_command(name: str) -> bool:
    """Whether what a tool is given is a command line."""
    return plain(name) in table().command.names


def takes_path_first(name: str) -> bool:
    """Whether the first word that a tool is given is a path."""
    tool = plain(name)
    return tool in _by_name() and tool not in table().search.names


def keys() -> Keys:
    """Which arguments of a tool say what."""
    return table().arguments


def named(given: Mapping[str, Any], wanted: tuple[str, ...]) -> Iterator[Any]:
    """The values of these arguments that are there, best first, however the keys are spelled."""
    by_key = {spelled(key): value for key, value in given.items() if value is not None}
    return (by_key[key] for key in wanted if key in by_key)


def first_text(given: Mapping[str, Any], wanted: tuple[str, ...]) -> str | None:
    """The first of these arguments that is a text with something in it."""
    return next((value for value in named(given, wanted) if isinstance(value, str) and value), None)


def paths_in(given: Mapping[str, Any]) -> list[str]:
    """The paths that a tool is given by name, each once."""
    return list(dict.fromkeys(path for value in named(given, keys().paths) for path in paths_of(value)))


def paths_of(value: Any) -> Iterator[str]:
    """The paths that a value is: itself, or those of a list. A text of several lines is none, nor is a URL."""
    for path in value if isinstance(value, list | tuple) else (value,):
        if isinstance(path, str) and path and "\n" not in path and not has_scheme(path):
            yield path


def patched_in(patch: str) -> list[Patched]:
    """The files that the text of a patch names, in order."""
    # Where nothing is escaped, a log of one line an event has its line feeds as they are written in code.
    found = _PATCHED.finditer(patch if "\n" in patch else patch.replace("\\n", "\n"))
    return [Patched(_VERBS.get(match["verb"] or "", Access.EDIT), match["path"].strip()) for match in found]


@functools.cache
def table() -> _Table:
    """The table of `tools.toml`."""
    text = importlib.resources.files("blackbox.events").joinpath("tools.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _Table)


@functools.cache
def _by_name() -> dict[str, Access]:
    return {name: access for kind, access in _ACCESSES.items() for name in getattr(table(), kind).names}
