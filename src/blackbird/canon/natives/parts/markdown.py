"""The structure of a document of SpecStory: headings, and under them words, thoughts and the uses of tools."""

import bisect
import re
from collections.abc import Iterator
from typing import NamedTuple

from blackbird.canon.model import Role
from blackbird.canon.natives.jsonl import encode
from blackbird.canon.natives.times import instant

_HEADING = re.compile(r"^_\*\*(User|Agent|Assistant)( - sidechain)?(?: \(([^()\n]*)\))?\*\*_[ \t]*$", re.MULTILINE)
_WHEN = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d:?\d\d)?$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_TOOL = re.compile(r'<tool-use data-tool-type="([^"\n]*)" data-tool-name="([^"\n]*)"><details>[ \t]*$', re.MULTILINE)
_THOUGHT = re.compile(r"<think><details><summary>[^\n]*?</summary>[ \t]*$", re.MULTILINE)
_OPENING = re.compile(r"^<(?:tool-use |think>)", re.MULTILINE)
_SUMMARY = re.compile(r"\s*<summary>[^\n]*</summary>[ \t]*\n")
_TOOL_END = "</details></tool-use>"
_THOUGHT_END = "</details></think>"
#: What may stand after the end of a block. A block that a tool's output quotes is followed by more of that output.
_AFTER_BLOCK = re.compile(r"\s*(?:---\s*)?(?:\Z|(?=_\*\*(?:User|Agent|Assistant))|(?=<tool-use )|(?=<think>))")
_RULE = re.compile(r"\n[ \t]*\n---\s*\Z")
_ANSWER = re.compile(r"^\*\*Answer:\*\* ?", re.MULTILINE)


class Section(NamedTuple):
    """What stands under one heading: characters `first` to `last` of the document."""

    role: Role
    is_side: bool
    model: str | None
    at: int | None
    start: int
    first: int
    last: int


class Block(NamedTuple):
    """A piece of a section: `kind` is `text`, `thought` or `tool`; `inner` is where its contents stand."""

    kind: str
    start: int
    end: int
    inner: tuple[int, int]
    tool: tuple[str, str] = ("", "")


class Use(NamedTuple):
    """A tool's block taken apart: where its input and its output stand."""

    input: tuple[int, int]
    output: tuple[int, int] | None


class Places:
    """Which byte of the document's UTF-8 a character is."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._is_plain = text.isascii()
        self._lines: list[int] = []
        self._bytes: list[int] = []
        if self._is_plain:
            return
        char = byte = 0
        for line in text.splitlines(keepends=True):
            self._lines.append(char)
            self._bytes.append(byte)
            char += len(line)
            byte += len(encode(line))

    def byte(self, char: int) -> int:
        """Where a character begins, or the end."""
        if self._is_plain:
            return char
        line = bisect.bisect_right(self._lines, char) - 1
        return self._bytes[line] + len(encode(self._text[self._lines[line] : char]))


def sections(text: str) -> Iterator[Section]:
    """The document under its headings; a heading inside of a tool's block is a part of that block."""
    heading = _HEADING.search(text)
    while heading:
        role, model, at = _spoken(heading)
        first = heading.end()
        following = _HEADING.search(text, first)
        if role is Role.ASSISTANT or heading[2]:
            following = _HEADING.search(
                text, _past_blocks(text, first, following.start() if following else len(text))
            )
        last = following.start() if following else len(text)
        if following and (following[1] == "User") != (heading[1] == "User"):
            rule = _RULE.search(text, first, last)
            last = rule.start() if rule else last
        yield Section(role, bool(heading[2]), model, at, heading.start(), first, last)
        heading = following


def _spoken(heading: re.Match[str]) -> tuple[Role, str | None, int | None]:
    inside = (heading[3] or "").strip()
    when = _WHEN.search(inside)
    model = (inside[: when.start()] if when else inside).strip()
    # A sub-agent's prompt stands under a heading that names the agent, but no model.
    is_prompt = heading[1] == "User" or (bool(heading[2]) and not model)
    known = None if not model or model.startswith("<") else model
    return (Role.USER if is_prompt else Role.ASSISTANT), known, moment(inside)


def moment(text: str) -> int | None:
    """The time that a text ends with; one without a zone is in UTC."""
    when = _WHEN.search(text)
    if not when:
        return None
    zone = "+00:00" if when[3] in (None, "Z") else when[3]
    return instant(f"{when[1]}T{when[2]}{zone}")


def _past_blocks(text: str, first: int, last: int) -> int:
    """Where the last block ends that begins between the two places."""
    while (opening := _opening(text, first, last)) is not None:
        first = opening.end
        if first >= last:
            break
    return first


def _opening(text: str, first: int, last: int) -> Block | None:
    """The first block that begins between the two places, outside of fenced code."""
    fences = _fenced(text, first, last)
    for found in _OPENING.finditer(text, first, last):
        start = found.start()
        if any(begin < start < end for begin, end in fences):
            continue
        if block := _block(text, start):
            return block
    return None


def _block(text: str, start: int) -> Block | None:
    tool = _TOOL.match(text, start)
    opened = tool or _THOUGHT.match(text, start)
    if not opened:
        return None
    closing = _TOOL_END if tool else _THOUGHT_END
    end = text.find("\n" + closing, opened.end())
    while end >= 0 and not _is_end(text, opened.end(), end, end + 1 + len(closing)):
        end = text.find("\n" + closing, end + 1)
    if end < 0:
        return None
    name = (tool[1], tool[2]) if tool else ("", "")
    inner = (min(opened.end() + 1, end), end)
    return Block("tool" if tool else "thought", start, end + 1 + len(closing), inner, name)


def _is_end(text: str, first: int, last: int, after: int) -> bool:
    """Whether a block ends there: something else begins behind it, or words do and none of its fences is open."""
    if _AFTER_BLOCK.match(text, after):
        return True
    return text.startswith("\n\n", after) and len(_FENCE.findall(text, first, last)) % 2 == 0


def _fenced(text: str, first: int, last: int) -> list[tuple[int, int]]:
    """Where fenced code stands; a fence that is never closed fences nothing."""
    fences: list[tuple[int, int]] = []
    opened: tuple[int, str] | None = None
    for fence in _FENCE.finditer(text, first, last):
        if opened is None:
            opened = (fence.start(), fence[1])
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            fences.append((opened[0], fence.end()))
            opened = None
    return fences


def blocks(text: str, section: Section) -> Iterator[Block]:
    """The pieces of a section. Only an agent uses tools: what a user quotes is the user's words."""
    place = section.first
    while section.role is Role.ASSISTANT and (block := _opening(text, place, section.last)):
        yield from _words(text, place, block.start)
        yield block
        place = block.end
    yield from _words(text, place, section.last)


def _words(text: str, first: int, last: int) -> Iterator[Block]:
    words = text[first:last]
    lead = len(words) - len(words.lstrip())
    inner = (first + lead, first + len(words.rstrip()))
    if inner[0] < inner[1]:
        yield Block("text", *inner, inner)


def take_apart(text: str, block: Block) -> Use:
    """Where a tool's input ends and its output, the last fenced code of the block, begins."""
    first, last = block.inner
    if summary := _SUMMARY.match(text, first, last):
        first = summary.end()
    body = text[first:last]
    if answer := _ANSWER.search(body):
        return Use(_trimmed(text, first, first + answer.start()), (first + answer.end(), last))
    opening = _output(body, is_write=block.tool[0] == "write")
    if opening is None:
        return Use(_trimmed(text, first, last), None)
    end = first + len(body.rstrip()) - 3
    output = (first + opening.end() + 1, end - 1)
    before = body[: opening.start()].rstrip().removesuffix("Output:")
    return Use(_trimmed(text, first, first + len(before)), (min(output), output[1]) if output[1] > 0 else None)


def _output(body: str, *, is_write: bool) -> re.Match[str] | None:
    """The fence that opens the output. Output is not escaped: fences inside of it stand as they are."""
    closed = body.rstrip()
    if not closed.endswith("\n```"):
        return None
    fences = [fence for fence in _FENCE.finditer(body) if fence.end() < len(closed)]
    plain = [fence for fence in fences if fence[0] in ("```", "```text")]
    if not plain:
        return None
    if fences[0] is plain[0] and not is_write:
        return plain[0]
    # The input is fenced itself: the output is fenced right behind it.
    behind = [
        fence
        for fence in plain
        if fence is fences[0] or body[: fence.start()].rstrip().endswith(("\n```", "Output:"))
    ]
    return (behind[-1] if is_write else behind[0]) if behind else None


def _trimmed(text: str, first: int, last: int) -> tuple[int, int]:
    words = text[first:last]
    lead = len(words) - len(words.lstrip())
    return (first + lead, first + max(lead, len(words.rstrip())))
