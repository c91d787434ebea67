"""The header of a new log: typed fields in, the YAML block out."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict, cast

from blackbox.errors import UsageError
from blackbox.syntax.header import FENCE, REQUIRED, HeaderValue
from blackbox.write import scalars
from blackbox.write.scalars import Argument, Duration, Money

FORMATS = ("bbox/1", "rlog/1")


class HeaderFields(TypedDict, total=False):
    """What a log says about its session. `id` and `repo_sha` are required; `format` is bbox/1 unless given."""

    format: str
    id: str
    mode: str
    model: str
    agent: str
    version: str
    repo: str
    repo_sha: str
    branch: str
    dirty: bool
    sandbox_id: str
    runner: str
    toolset: Mapping[str, str]
    skills: Sequence[str]
    mcp: Sequence[str]
    budget: Money
    duration: Duration
    classification: str
    notes: str
    client_version: str
    slug: str
    cwd: str
    tokens_total_in: int
    tokens_total_out: int
    tokens_cached: int
    tokens_cache_create: int
    extra: Mapping[str, Argument]


_ORDER = tuple(HeaderFields.__annotations__)
_EXTRA_KEY = re.compile(r"[\w.\-]*[\w\-]")
_PLAIN = re.compile(r"[A-Za-z0-9$/_][A-Za-z0-9$/~.+@%=_-]*(?: [A-Za-z0-9$/_(][A-Za-z0-9$/~.+@%=()_-]*)*")
_YAML_NAMES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def spell_header(fields: HeaderFields) -> str:
    """The header block, both fences and the blank line below it included."""
    checked = _check(fields)
    lines = [f"{key}: {_yaml(checked[key])}" for key in _ORDER if key in checked and key != "extra"]
    lines.append("escape: 1")
    for key, value in fields.get("extra", {}).items():
        if not _EXTRA_KEY.fullmatch(key):
            raise UsageError(f"extra key {key!r} is no plain name", "use letters, digits, `_`, `.` and `-`")
        lines.append(f"extra.{key}: {_yaml(value)}")
    return "\n".join([FENCE, *lines, FENCE, "", ""])


def spell_fields(fields: Mapping[str, HeaderValue]) -> str:
    """The header block of any fields, as read from another log; the body below it has to use the escape rule."""
    given: Mapping[str, Argument] = {**fields, "escape": "1"}
    lines = [f"{_scalar(key)}: {_yaml(value)}" for key, value in given.items()]
    return "\n".join([FENCE, *lines, FENCE, "", ""])


def map_header(fields: HeaderFields, pair: Callable[[str, str], str]) -> HeaderFields:
    """The same fields with every text in them mapped by its key; the format stays."""
    given = cast("Mapping[str, Argument]", fields)
    mapped = {key: value if key == "format" else _map(key, value, pair) for key, value in given.items()}
    return cast("HeaderFields", mapped)


def _map(key: str, value: Argument, pair: Callable[[str, str], str]) -> Argument:
    if isinstance(value, str):
        return pair(key, value)
    if isinstance(value, Mapping):
        return {name: _map(name, item, pair) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_map(key, item, pair) for item in value]
    return value


def _check(fields: HeaderFields) -> dict[str, Argument]:
    found: dict[str, Argument] = {"format": FORMATS[0]}
    found |= {key: value for key, value in fields.items() if value is not None}  # type: ignore[misc]  # values are Arguments
    for key in REQUIRED:
        if not found.get(key):
            raise UsageError(f"the header needs `{key}`", f"pass {key}=… when the session is opened")
    unknown = [key for key in found if key not in _ORDER]
    if unknown:
        raise UsageError(f"the header has no field `{unknown[0]}`", f"pass it as extra={{{unknown[0]!r}: …}}")
    if found["format"] not in FORMATS:
        raise UsageError(f"format {found['format']!r} is none of ours", f"use one of {', '.join(FORMATS)}")
    if "budget" in fields:
        found["budget"] = scalars.money("budget", fields["budget"])
    if "duration" in fields:
        found["duration"] = scalars.duration("duration", fields["duration"])
    return found


def _yaml(value: Argument) -> str:
    """A value as YAML in flow style, on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(str(key))}: {_yaml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_yaml(item) for item in value) + "]"
    return _scalar(scalars.text_of(value))


def _scalar(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return '"' + "".join(_character(character) for character in text) + '"'


def _character(character: str) -> str:
    if character in _YAML_NAMES:
        return _YAML_NAMES[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
