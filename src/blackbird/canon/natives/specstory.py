"""Conversations that SpecStory wrote down as Markdown: one document, its spans plain UTF-8."""

import json
import re
from pathlib import PurePath
from typing import Any

import msgspec

from blackbird.canon import details
from blackbird.canon.model import Evidence, Part, Reply, Role, Span, Text, Thinking, ToolCall, ToolResult, Turn
from blackbird.canon.natives.parts import markdown
from blackbird.canon.seen import Entry

_SESSION = re.compile(r"<!-- (.+?) Session (\S+)(?: \((.*?)\))? -->")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_QUOTED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_NAMED = re.compile(r"\b([a-z_]+) `([^`\n]*)`")

_PATH = re.compile(r"^Path: `([^`\n]+)`[ \t]*$", re.MULTILINE)
_FENCED = re.compile(r"```(\w*)\n(.*)\n```", re.DOTALL)
#: What a tool says of a file that it has changed; of one that was changed, often nothing else names it.
_CHANGED = re.compile(
    r"The file (?P<updated>[^\n]+?) has been (?:updated|created)\b|File created successfully at: (?P<created>[^\n]+)"
)
#: How results begin that say that nothing was done.
_REFUSED = (
    "<tool_use_error>",
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
)

_SPAWNING = frozenset({"Task", "Agent"})
_INTERRUPTED = "[Request interrupted"
_FOLDER = ".specstory"


def _project(file: PurePath) -> str | None:
    """The folder that the agent worked in: SpecStory keeps its documents in a folder of it, and names it nowhere."""
    return next((str(folder.parent) for folder in file.parents if folder.name == _FOLDER), None)


class Reader:
    """Reads documents of `.specstory/history`, each fed as one text.

    The documents give no ids: a call is named by where in the order of calls it stands, which does not change as
    the document grows.
    """

    def __init__(self, source: str, file: str) -> None:
        self.source = source
        self.session = PurePath(file).stem or "specstory"
        self.project = _project(PurePath(file))

    def line(self, text: str, evidence: Evidence) -> list[Entry]:
        """What the document says."""
        return _Document(text, evidence, self.session, self.project).entries() if text else []

    def end(self) -> list[Entry]:
        """Nothing waits."""
        return []


class _Document:
    """One document: its text, where its characters stand, and the conversation so far."""

    def __init__(self, text: str, evidence: Evidence, session: str, project: str | None) -> None:
        self.text = text
        self.evidence = evidence
        self.places = markdown.Places(text)
        found = _SESSION.search(text)
        self.session = found[2] if found else session
        self.project = project
        self.found: list[Entry] = []
        self.calls = 0
        #: Calls that may have started a sub-agent whose words did not come yet.
        self.spawned: list[str] = []
        self.sides = 0
        self.side_call: str | None = None
        self.model: str | None = None
        #: By thread, the response that goes on: nothing was answered to it yet. It goes by its first entry.
        self.speaking: dict[str, str] = {}

    def entries(self) -> list[Entry]:
        sections = list(markdown.sections(self.text))
        self._preamble(sections[0].start if sections else len(self.text))
        for section in sections:
            self._section(section)
        return self.found

    def _preamble(self, end: int) -> None:
        head = self.text[:end]
        about = {}
        if self.project is not None:
            about["cwd"] = self.project
        if found := _SESSION.search(head):
            about["client"] = found[1]
        title = _TITLE.search(head)
        if title and markdown.moment(title[1].strip()) is None:
            about["title"] = title[1].strip()
        at = markdown.moment(found[3] or "") if found else None
        rest = _COMMENT.sub("", head)
        if title:
            rest = rest.replace(title[0], "", 1)
        if about:
            self._add(0, end, at=at, about=about)
        if rest.strip():
            self._add(0, end, at=at, mark="note", text=rest.strip())

    def _section(self, section: markdown.Section) -> None:
        if section.is_side and section.role is Role.USER:
            self._begin_side(self.text[section.first : section.last].strip())
        if section.model and section.model != self.model and not section.is_side:
            self.model = section.model
            self._add(section.start, section.first, at=section.at, about={"model": section.model})
        parts: list[Part] = []
        start = section.start
        end = section.first
        for block in markdown.blocks(self.text, section):
            if block.kind != "tool":
                end = block.end
                text, span = self._cut(*block.inner)
                parts.append(Text(text, span) if block.kind == "text" else Thinking(text, spans=span))
                continue
            use = markdown.take_apart(self.text, block)
            call = self._call(block, use, section)
            parts.append(call)
            self._turn(section, section.role, parts, start, use.output[0] if use.output else block.end)
            parts = []
            if use.output:
                result = self._result(call, use.output, is_write=block.tool[0] == "write")
                self._turn(section, Role.USER, [result], use.output[0], block.end, is_timed=False)
            start = end = block.end
        if parts:
            self._turn(section, section.role, parts, start, end)

    def _begin_side(self, prompt: str) -> None:
        """A prompt begins a sub-agent's thread; what the client itself says stands in brackets."""
        if prompt.startswith(_INTERRUPTED) and self.sides:
            return
        self.sides += 1
        self.side_call = self.spawned.pop(0) if self.spawned and not prompt.startswith("[") else None

    def _call(self, block: markdown.Block, use: markdown.Use, section: markdown.Section) -> ToolCall:
        self.calls += 1
        kind, name = block.tool
        call_id = f"tool-{self.calls}"
        if name in _SPAWNING and not section.is_side:
            self.spawned.append(call_id)
        raw, spans = self._cut(*use.input)
        answer = self._cut(*use.output)[0] if use.output else ""
        given = _written(raw, answer) if kind == "write" else _arguments(kind, raw)
        return ToolCall(name, call_id, given, raw, spans=spans)

    def _result(self, call: ToolCall, output: tuple[int, int], *, is_write: bool) -> ToolResult:
        text, spans = self._cut(*output)
        failed = True if text.startswith(_REFUSED) else False if is_write and _CHANGED.match(text) else None
        return details.ended(ToolResult(call.call_id, text, failed, call.name, spans=spans))

    def _cut(self, first: int, last: int) -> tuple[str, tuple[Span, ...]]:
        text = self.text[first:last]
        base = self.evidence.start
        span = Span(0, len(text), base + self.places.byte(first), base + self.places.byte(last))
        return text, (span,) if text else ()

    def _turn(
        self,
        section: markdown.Section,
        role: Role,
        parts: list[Part],
        start: int,
        end: int,
        *,
        is_timed: bool = True,
    ) -> None:
        """Something that was said in a section; when a tool was done, no document tells."""
        side: dict[str, Any] = {}
        if section.is_side:
            side = {
                "thread": f"{self.session}/sidechain-{self.sides}",
                "parent_thread": self.session,
                "call_id": self.side_call,
                "kind": "sidechain",
            }
        base = self.evidence.start
        turn = Turn(role, tuple(parts), base + self.places.byte(start), base + self.places.byte(end))
        thread = side.get("thread", "")
        reply = None
        if role is Role.ASSISTANT:
            response = self.speaking.setdefault(thread, self._key())
            reply = Reply(response_id=response, model=section.model)
        else:
            self.speaking.pop(thread, None)
        self._add(start, end, at=section.at if is_timed else None, turn=turn, reply=reply, **side)

    def _add(self, start: int, end: int, **what: Any) -> None:
        base = self.evidence.start
        where = msgspec.structs.replace(
            self.evidence, start=base + self.places.byte(start), end=base + self.places.byte(end)
        )
        self.found.append(Entry(session=self.session, key=self._key(), evidence=where, **what))

    def _key(self) -> str:
        """What the next entry goes by."""
        return f"{self.session}#{len(self.found)}"


def _arguments(kind: str, raw: str) -> dict[str, Any] | None:
    """What the input says by name: JSON, a command, a path, or words followed by their values."""
    fenced = _FENCED.fullmatch(raw)
    if fenced and fenced[1] == "json":
        try:
            given = json.loads(fenced[2])
        except (ValueError, RecursionError):
            return None
        return given if isinstance(given, dict) else None
    if kind == "shell":
        return _command(raw)
    if kind == "read" and (path := _QUOTED.fullmatch(raw)):
        return {"file_path": path[1]}
    if kind == "search" and (named := dict(_NAMED.findall(raw))):
        return named
    return None


def _written(raw: str, answer: str) -> dict[str, Any] | None:
    """The file that a tool writes, by its input or by what it says in the end, and its content if that is there."""
    changed = _CHANGED.match(answer)
    named = _PATH.search(raw)
    path = named[1] if named else (changed["updated"] or changed["created"]).strip() if changed else None
    if path is None:
        return _arguments("write", raw)
    content = _FENCED.fullmatch(_PATH.sub("", raw).strip())
    return {"file_path": path, "content": content[2]} if content else {"file_path": path}


def _command(raw: str) -> dict[str, Any] | None:
    found = re.fullmatch(r"(?:([^`\n]*)\n\n)?(?:`([^\n]+)`|```\w*\n(.*)\n```)", raw, re.DOTALL)
    if not found:
        return None
    given = {"command": found[2] or found[3] or ""}
    return {**given, "description": found[1]} if found[1] else given
