"""TOML as people keep it: a block of entries added at its end between two marks, and removed. Pure."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from blackbird.agents.jsonc import NotReadable

_BEGIN = "# >>> blackbird install: taken out again by blackbird uninstall"
_END = "# <<< blackbird install"
_BLOCK = re.compile(rf"(?:\A|(?<=\n))\n?{re.escape(_BEGIN)}\n.*?{re.escape(_END)}\n?", re.DOTALL)
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def parse(text: str) -> dict[str, Any]:
    """What it says. Raises `NotReadable`."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotReadable(str(error)) from error


def added(text: str, content: Mapping[str, Any]) -> str:
    """The text with a block of these entries at its end. Raises `NotReadable` if they do not go together."""
    parse(text)
    if _BLOCK.search(text) is not None:
        raise NotReadable("a block of blackbird is there already")
    ends = "" if not text or text.endswith("\n") else "\n"
    gap = "\n" if text.strip() else ""
    after = f"{text}{ends}{gap}{_BEGIN}\n" + "\n".join(_tables(content, ())) + f"\n{_END}\n"
    parse(after)
    return after


def removed(text: str) -> str:
    """The text without the block."""
    return _BLOCK.sub("", text, count=1)


def _tables(content: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """The lines of a table: its own values first, then the tables and lists of tables in it."""
    plain = {key: value for key, value in content.items() if not _is_table(value) and not _is_list_of_tables(value)}
    if plain and path:
        yield f"[{_name(path)}]"
    for key, value in plain.items():
        yield f"{_key(key)} = {inline(value)}"
    for key, value in content.items():
        if _is_table(value) and value:
            yield from _tables(value, (*path, key))
        elif _is_list_of_tables(value):
            for each in value:
                yield f"[[{_name((*path, key))}]]"
                yield from (f"{_key(name)} = {inline(part)}" for name, part in each.items())


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, Mapping) for each in value)


def _name(path: tuple[str, ...]) -> str:
    return ".".join(map(_key, path))


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def inline(value: Any) -> str:
    """A value as TOML spells it in one line; its texts are those of JSON."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {inline(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
