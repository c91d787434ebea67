"""Texts of files, variables and options to assignments; unknown and untrusted names are errors."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from blackbird.config import settings, values
from blackbird.config.settings import UPSTREAMS, Setting
from blackbird.errors import ConfigError

Level = Literal["default", "user file", "project file", "environment", "flag"]
_PREFIX = "BLACKBIRD_"
_HEADER = re.compile(r"\s*\[\[?\s*([^\[\]#]+?)\s*\]\]?\s*(?:#.*)?")
_KEY = re.compile(r"\s*([A-Za-z0-9_.\"' -]+?)\s*=")
#: Values of these types are harmless to repeat in a message; a URL may hold a password.
_SHOWN = frozenset({"address", "choice", "count", "duration", "size", "switch"})
#: What stands further right is no name of a setting, and patterns are slow on lines made for that.
_LONGEST_LINE = 200
#: What a project would decide if it could set the settings of a table.
_STAKES = {
    "enrichment": "who reads your recordings",
    "mcp": "who can ask your memory",
    "memory": "who reads your recordings",
    "proxy": "where your traffic and your keys go",
    "redaction": "which of your secrets are stored",
    "trace": "how long your recordings are kept",
    UPSTREAMS: "where your traffic and your keys go",
}


@dataclass(frozen=True)
class Origin:
    """Where a value comes from."""

    level: Level
    where: str = ""

    def __str__(self) -> str:
        return self.where or self.level


@dataclass(frozen=True)
class Assignment:
    """A setting, a checked value, and who said so."""

    setting: Setting
    value: Any
    origin: Origin


def from_defaults() -> list[Assignment]:
    """What holds if nobody says anything."""
    upstreams = [settings.upstream_setting(name) for name in settings.built_in_upstreams()]
    return [
        Assignment(each, None if each.default is None else values.check(each, each.default), Origin("default"))
        for each in (*settings.known().values(), *upstreams)
    ]


def from_file(text: str, path: str, level: Literal["user file", "project file"]) -> list[Assignment]:
    """What a file sets."""
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"{path}: no TOML: {error}", 'mend that place; values are written as in key = "text"'
        ) from error
    found = []
    for section, table in tables.items():
        if section not in settings.sections() or not isinstance(table, dict):
            place = _place(path, locate(text, section, ""))
            raise ConfigError(f"{place}: there is no table [{section}] of settings", settings.suggest(section))
        for key, value in table.items():
            name = f"{section}.{key}"
            place = _place(path, locate(text, section, key))
            setting = _known(name, place)
            if level == "project file" and setting.trust != "project":
                raise ConfigError(
                    f"{place}: {name} is not for a project's file: "
                    f"a cloned repository would decide {_STAKES[section]}",
                    "set it in your own file; blackbird config path tells where that is",
                )
            found.append(_assign(setting, value, Origin(level, place)))
    return found


def from_environment(variables: Mapping[str, str]) -> list[Assignment]:
    """What environment variables set; one that is empty sets nothing."""
    by_variable = {setting.variable: setting for setting in settings.known().values()}
    prefixes = tuple(f"{_PREFIX}{section.upper()}_" for section in settings.sections())
    found = []
    for variable, text in sorted(variables.items()):
        if not text or not variable.startswith(prefixes):
            continue
        upstream = variable.removeprefix(f"{_PREFIX}{UPSTREAMS.upper()}_")
        if upstream != variable:
            setting = _known(f"{UPSTREAMS}.{upstream.lower().replace('_', '-')}", variable)
        elif variable in by_variable:
            setting = by_variable[variable]
        else:
            section, _, key = variable.removeprefix(_PREFIX).lower().partition("_")
            setting = _known(f"{section}.{key}", variable)
        found.append(_assign_text(setting, text, Origin("environment", variable)))
    return found


def from_options(options: Iterable[tuple[str, str, str]]) -> list[Assignment]:
    """What options of a command set: the option, the setting it means, and its text."""
    found: dict[str, Assignment] = {}
    for option, name, text in options:
        assignment = _assign_text(_known(name, option), text, Origin("flag", option))
        if name in found:
            raise ConfigError(f"{option}: {name} is given twice", "give it once")
        found[name] = assignment
    return list(found.values())


def locate(text: str, section: str, key: str) -> int | None:
    """The line of a file on which a key of a table is set; without a key, on which the table begins."""
    at: list[str] = []
    wanted = [section, key] if key else [section]
    for number, whole in enumerate(text.split("\n"), start=1):
        line = whole.strip()[:_LONGEST_LINE]
        header, assigned = _HEADER.fullmatch(line), _KEY.match(line)
        if header is not None:
            at = _names(header[1])
            path = at
        elif assigned is not None:
            path = at + _names(assigned[1])
        else:
            continue
        if path[: len(wanted)] == wanted:
            return number
    return None


def _names(dotted: str) -> list[str]:
    return [part.strip().strip("\"'") for part in dotted.split(".")]


def _place(path: str, line: int | None) -> str:
    return path if line is None else f"{path}:{line}"


def _known(name: str, place: str) -> Setting:
    setting = settings.look_up(name)
    if setting is None:
        raise ConfigError(f"{place}: there is no setting {name}", settings.suggest(name))
    return setting


def _assign_text(setting: Setting, text: str, origin: Origin) -> Assignment:
    try:
        value = values.read_text(setting, text)
    except ValueError as error:
        raise _bad(setting, text, origin, error) from None
    return _assign(setting, value, origin)


def _assign(setting: Setting, value: Any, origin: Origin) -> Assignment:
    try:
        return Assignment(setting, values.check(setting, value), origin)
    except ValueError as error:
        raise _bad(setting, value, origin, error) from None


def _bad(setting: Setting, value: Any, origin: Origin, error: ValueError) -> ConfigError:
    shown = f" {value!r}" if setting.type in _SHOWN else ""
    return ConfigError(f"{origin}: {setting.name}: the value{shown} {error}", f"{setting.name}: {setting.help}")
