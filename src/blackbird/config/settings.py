"""The table of all settings, from `settings.toml`."""

import difflib
import functools
import importlib.resources
import re
import tomllib
from typing import Any, Literal

import msgspec

Kind = Literal[
    "address", "choice", "count", "duration", "hosts", "origins", "path", "patterns", "size", "switch", "tables",
    "text", "token", "url", "words",
]  # fmt: skip
UPSTREAMS = "upstreams"
RECORDER, MEMORY, RUN = "recorder", "memory", "run"
READERS = (RECORDER, MEMORY, RUN)
PLANNED = "planned: "
#: The paths that belong to the recorder itself.
RESERVED_UPSTREAMS = frozenset({"bb", "bbt", "_blackbird"})
_UPSTREAM_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


class Setting(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One thing that can be set."""

    name: str
    type: Kind
    trust: Literal["user", "project"]
    read_by: str
    help: str
    default: Any = None
    choices: tuple[str, ...] = ()
    least: int | str | None = None
    most: int | str | None = None
    secret: bool = False

    @property
    def section(self) -> str:
        """The table of the file it stands in."""
        return self.name.partition(".")[0]

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "BLACKBIRD_" + re.sub("[.-]", "_", self.name).upper()

    @property
    def is_planned(self) -> bool:
        """Whether nothing reads it yet."""
        return self.read_by.startswith(PLANNED)


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    setting: list[Setting]
    upstreams: dict[str, str]


@functools.cache
def _table() -> _Table:
    text = importlib.resources.files("blackbird.config").joinpath("settings.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _Table)


@functools.cache
def known() -> dict[str, Setting]:
    """The settings by their names, in the order of the table; upstreams are not among them."""
    return {setting.name: setting for setting in _table().setting}


def sections() -> list[str]:
    """The tables a file may have."""
    return list(dict.fromkeys([*(setting.section for setting in known().values()), UPSTREAMS]))


def built_in_upstreams() -> dict[str, str]:
    """The upstreams that are there without being set."""
    return dict(_table().upstreams)


def upstream_setting(name: str) -> Setting:
    """The setting of one upstream."""
    return Setting(
        name=f"{UPSTREAMS}.{name}",
        type="url",
        trust="user",
        read_by=RECORDER,
        help=f"Where requests under /{name}/ go.",
        default=built_in_upstreams().get(name),
    )


def look_up(name: str) -> Setting | None:
    """The setting of that name, an upstream's included, if there is one."""
    section, _, key = name.partition(".")
    if section == UPSTREAMS and is_upstream_name(key):
        return upstream_setting(key)
    return known().get(name)


def is_upstream_name(name: str) -> bool:
    """Whether an upstream can have that name: it becomes the first part of a path."""
    return _UPSTREAM_NAME.fullmatch(name) is not None and name not in RESERVED_UPSTREAMS


def suggest(name: str) -> str:
    """What may have been meant by a name that is none: a sentence, or nothing."""
    section, _, key = name.partition(".")
    if section == UPSTREAMS and key:
        taken = ", ".join(sorted(RESERVED_UPSTREAMS))
        return f"a name of an upstream is lower case, digits and -, and none of {taken}"
    near = difflib.get_close_matches(name, known(), 1, cutoff=0.5)
    if near:
        return f"did you mean {near[0]}?"
    return f"the tables are {', '.join(sections())}; blackbird config show lists all settings"
