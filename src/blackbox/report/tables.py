"""What reaches the network and which paths hold secrets, read from the tables beside this module."""

import functools
import importlib.resources
import tomllib
from typing import TypeVar

import msgspec

T = TypeVar("T")


class Command(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command that goes to a server which the command line need not name."""

    name: str
    words: frozenset[str]
    server: str


class Network(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """Which commands, and which tools that run none, reach the network."""

    takes_host: frozenset[str]
    copies: frozenset[str]
    wrappers: frozenset[str]
    valued_options: frozenset[str]
    web_tools: dict[str, str]
    command: tuple[Command, ...]

    @functools.cached_property
    def by_name(self) -> dict[str, Command]:
        """The commands that go to a server without naming it."""
        return {command.name: command for command in self.command}

    @functools.cached_property
    def programs(self) -> frozenset[str]:
        """Every command that is known to reach the network."""
        return self.takes_host | self.copies | frozenset(self.by_name)


class SensitiveKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of path that holds secrets, and its patterns."""

    why: str
    patterns: tuple[str, ...]


class SensitivePaths(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Paths that hold secrets, and names that look like one and do not."""

    harmless: tuple[str, ...]
    path: tuple[SensitiveKind, ...]


@functools.cache
def network() -> Network:
    """The table of what reaches the network."""
    return _load("network.toml", Network)


@functools.cache
def sensitive_paths() -> SensitivePaths:
    """The table of paths that hold secrets."""
    return _load("sensitive.toml", SensitivePaths)


def _load(name: str, kind: type[T]) -> T:
    text = importlib.resources.files("blackbox.report").joinpath(name).read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), kind)
