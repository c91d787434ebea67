"""JSON as people keep it, with comments and in their own layout: entries added and removed, all else as it is."""

import collections
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SPACES = re.compile(r"[ \t]*")
#: What of a line belongs to the entry before it: a comment.
_REMARK = re.compile(r"(?:[ \t]+|/\*[^\n]*?\*/)*(?://[^\n]*)?(?=\r?\n)")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|\S', re.DOTALL)
_SCALAR = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null')
_UNIT = "  "
#: The name of our own entries: what is below it is ours as a whole.
OURS = "blackbird"


class NotReadable(ValueError):
    """The text is no JSON object, or an entry cannot be added to what is there; says where."""


class Node(NamedTuple):
    """A value and where it stands; of an object its members by name, of a list its items."""

    start: int
    end: int
    value: Any
    members: dict[str, "Member"] | None = None
    items: list["Node"] | None = None


class Member(NamedTuple):
    """A member of an object: where its name begins, and its value."""

    start: int
    node: Node


def parse(text: str) -> Node:
    """The whole text; an empty one counts as an empty object. Raises `NotReadable`."""
    start = _skip(text, 0)
    node = _value(text, start)
    if node.members is None:
        raise NotReadable("there is no object in it")
    if _skip(text, node.end) != len(text):
        raise NotReadable(f"line {_line(text, node.end)}: something follows the end")
    return node


def added(text: str, content: Mapping[str, Any]) -> str:
    """The text with entries added, in lists at the end. Raises `NotReadable` for what is there and differs."""
    if not text.strip():
        return json.dumps(content, indent=_UNIT, ensure_ascii=False) + "\n"
    return _added(text, content, ())


def removed(text: str, content: Mapping[str, Any], before: str) -> str:
    """The text without these entries; objects and lists go if they are empty then and were not there `before`."""
    was: Any = parse(before).value if before.strip() else {}
    return _removed(text, content, (), was)


def _added(text: str, content: Mapping[str, Any], path: tuple[str, ...]) -> str:
    for key, value in content.items():
        node = _at(parse(text), path)
        there = (node.members or {}).get(key)
        if there is None:
            text = _with_member(text, node, key, value)
        elif isinstance(value, Mapping) and there.node.members is not None and key != OURS:
            text = _added(text, value, (*path, key))
        elif isinstance(value, list) and there.node.items is not None:
            for item in value:
                listed = _at(parse(text), (*path, key))
                if item not in listed.value:
                    text = _with_item(text, listed, item)
        elif there.node.value != value:
            raise NotReadable(f"line {_line(text, there.start)}: `{key}` is there already")
    return text


def _removed(text: str, content: Mapping[str, Any], path: tuple[str, ...], was: Any) -> str:
    for key, value in content.items():
        there = (_at(parse(text), path).members or {}).get(key)
        before = was.get(key) if isinstance(was, dict) else None
        if there is None:
            continue
        if isinstance(value, Mapping) and key != OURS and there.node.members is not None:
            text = _removed(text, value, (*path, key), before)
        elif isinstance(value, list) and there.node.items is not None:
            text = _without_items(text, (*path, key), value, before)
        elif key == OURS or there.node.value == value:
            text = _cut(text, there.start, there.node.end)
            continue
        left = (_at(parse(text), path).members or {})[key]
        if left.node.value in ({}, []) and before is None:
            text = _cut(text, left.start, left.node.end)
    return text


def _without_items(text: str, path: tuple[str, ...], ours: list[Any], before: Any) -> str:
    kept = before if isinstance(before, list) else []
    for item in ours:
        found = [each for each in _at(parse(text), path).items or [] if each.value == item and item not in kept]
        for each in found[-1:]:
            text = _cut(text, each.start, each.end)
    return text


def _with_member(text: str, node: Node, key: str, value: Any) -> str:
    last = max((member.node.end for member in (node.members or {}).values()), default=None)
    first = min((member.start for member in (node.members or {}).values()), default=None)

    def spell(indent: str | None) -> str:
        return f"{json.dumps(key, ensure_ascii=False)}: {_spelled(value, indent)}"

    return _inserted(text, node, first, last, spell)


def _with_item(text: str, node: Node, value: Any) -> str:
    items = node.items or []
    first, last = (items[0].start, items[-1].end) if items else (None, None)
    return _inserted(text, node, first, last, lambda indent: _spelled(value, indent))


def _inserted(text: str, node: Node, first: int | None, last: int | None, spell: Callable[[str | None], str]) -> str:
    """One more entry behind the last, laid out as the first is: on a line of its own, or in the same."""
    outer = _indent(text, node.start)
    if first is None or last is None:
        inside, close = outer + _UNIT, node.end - 1
        return f"{text[:close].rstrip()}\n{inside}{spell(inside)}\n{outer}{text[close:]}"
    own = text.rfind("\n", node.start, first)
    comma = _skip(text, last)
    # Who ends the last entry with a comma keeps one there.
    at, mark, end = (comma + 1, "", ",") if text[comma : comma + 1] == "," else (last, ",", "")
    if own == -1:
        return f"{text[:at]}{mark} {spell(None)}{end}{text[at:]}"
    inside, remark = _indent(text, first), _REMARK.match(text, at)
    line = remark.end() if remark is not None else at
    return f"{text[:at]}{mark}{text[at:line]}\n{inside}{spell(inside)}{end}{text[line:]}"


def _spelled(value: Any, indent: str | None) -> str:
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, indent=_UNIT, ensure_ascii=False).replace("\n", f"\n{indent}")


def _cut(text: str, start: int, end: int) -> str:
    """The text without an entry, the comma that parted it from the next or the one before, and its empty line."""
    after = _skip(text, end)
    if text[after : after + 1] == ",":
        end = after + 1
    else:
        before = _comma_before(text, start)
        if before is not None:
            text = text[:before] + text[before + 1 :]
            start, end = start - 1, end - 1
    line = text.rfind("\n", 0, start) + 1
    following = _SPACES.match(text, end)
    stop = following.end() if following else end
    if not text[line:start].strip() and text[stop : stop + 1] == "\n":
        return text[:line] + text[stop + 1 :]
    if text[end : end + 1] == " " and text[start - 1 : start] in (" ", "{", "["):
        end += 1
    return (text[:start].rstrip(" ") if text[end : end + 1] in ("}", "]") else text[:start]) + text[end:]


def _comma_before(text: str, start: int) -> int | None:
    """Where the comma stands that parts an entry from the one before; those in comments part nothing."""
    tokens = (found for found in _TOKEN.finditer(text, 0, start) if not found[0].startswith(("//", "/*")))
    last = next(iter(collections.deque(tokens, maxlen=1)), None)
    return last.start() if last is not None and last[0] == "," else None


def _value(text: str, at: int) -> Node:
    sign = text[at : at + 1]
    if sign == "{":
        return _object(text, at)
    if sign == "[":
        return _list(text, at)
    found = _SCALAR.match(text, at)
    if found is None:
        raise NotReadable(f"line {_line(text, at)}: a value is missing")
    try:
        return Node(at, found.end(), json.loads(found[0]))
    except ValueError as error:
        raise NotReadable(f"line {_line(text, at)}: {error}") from error


def _object(text: str, start: int) -> Node:
    members: dict[str, Member] = {}
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}":
        name = _value(text, at)
        if not isinstance(name.value, str) or name.value in members:
            raise NotReadable(f"line {_line(text, at)}: a name is missing, or there twice")
        colon = _skip(text, name.end)
        if text[colon : colon + 1] != ":":
            raise NotReadable(f"line {_line(text, colon)}: `:` is missing")
        node = _value(text, _skip(text, colon + 1))
        members[name.value] = Member(at, node)
        at = _next(text, node.end, "}")
    return Node(start, at + 1, {key: member.node.value for key, member in members.items()}, members)


def _list(text: str, start: int) -> Node:
    items: list[Node] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != "]":
        items.append(_value(text, at))
        at = _next(text, items[-1].end, "]")
    return Node(start, at + 1, [item.value for item in items], None, items)


def _next(text: str, end: int, close: str) -> int:
    """Where the next entry begins, or the end is; a comma before the end is let pass, as clients do."""
    at = _skip(text, end)
    if text[at : at + 1] == ",":
        return _skip(text, at + 1)
    if text[at : at + 1] != close:
        raise NotReadable(f"line {_line(text, at)}: `,` or `{close}` is missing")
    return at


def _at(node: Node, path: tuple[str, ...]) -> Node:
    for key in path:
        node = (node.members or {})[key].node
    return node


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found is not None else at


def _indent(text: str, at: int) -> str:
    line = text.rfind("\n", 0, at) + 1
    found = _SPACES.match(text, line)
    return found[0] if found is not None else ""


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
