"""What the lines of a log say at a glance: whose session it is, when, where, what it was about, how much was said.

Messages are what the user and the agents said: one of the log counts once if it has words of theirs. What clients
wrap around those, thoughts, calls and results are none, and a message that is written down again is the same.
"""

import bisect
import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any

import msgspec

from blackbird.imports.recognise import load
from blackbird.sessions.imported import instant
from blackbox.document.line import Line
from blackbox.events.messages import Message
from blackbox.syntax.kinds import Kind, classify

_LONGEST_TITLE = 120
#: What is looked at of the words, so that a secret in them is seen as a whole before they are shortened.
_LONGEST_WORDS = 2000
#: No user's words begin so: what clients wrap around them, and what they put before them or say in a user's name.
_WRAPPERS = (
    *("<", "# AGENTS.md", "Caveat: The messages below", "[Request interrupted", "Base directory for this skill:"),
    *("This is the Gemini CLI. We are setting up", "This is the Qwen Code. We are setting up"),
    *("You have stopped calling tools without finishing", "Called the Read tool with the following input:"),
    *("This session is being continued from a previous", "Another language model started to solve this problem"),
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SPECSTORY_SESSION = re.compile(r"<!-- .+? Session (\S+)(?: \((.*?)\))? -->")
_SPECSTORY_TURN = re.compile(
    r"^_\*\*(User|Agent|Assistant)( - sidechain)?(?: \(([^()\n]*)\))?\*\*_[ \t]*$", re.MULTILINE
)
_SPECSTORY_BLOCK = re.compile(r"<(tool-use|think)\b.*?</\1>", re.DOTALL)
_SPECSTORY_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d:?\d\d)?$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
#: A command of the user, as Claude Code writes it down, and how it begins what it answered to one by itself.
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_ANSWERED = "<local-command-stdout>"
_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
_HEADER_FIELD = re.compile(r"(id|session|agent|(?:extra\.)?parent_session): *(.+)")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_WORKSPACE = re.compile(r"Workspace Directories:\*\*\n\s+- (\S[^\n]*)")

#: What a header says of an agent that nobody knows.
_NOBODY = ("", "unknown")
#: Formats whose lines are JSON, each by itself.
_JSON_LINES = frozenset({"claude-code", "codex", "companion", "gemini-cli", "qwen-code"})
#: What stands for a field that is not there.
_NOTHING = msgspec.Raw()


class _Line(msgspec.Struct):
    """Of a line, what tells something; all else is skipped. Clients agree on little."""

    type: Any = None
    timestamp: Any = None
    session: Any = msgspec.field(default=None, name="sessionId")
    agent: Any = msgspec.field(default=None, name="agentId")
    begun: Any = msgspec.field(default=None, name="startTime")
    updated: Any = msgspec.field(default=None, name="lastUpdated")
    cwd: Any = None
    project: Any = msgspec.field(default=None, name="projectHash")
    directories: Any = None
    id: Any = None
    is_meta: Any = msgspec.field(default=None, name="isMeta")
    is_summary: Any = msgspec.field(default=None, name="isCompactSummary")
    is_error: Any = msgspec.field(default=None, name="isApiErrorMessage")
    #: Of the short form: the kind of a line, its words and its time.
    short: Any = msgspec.field(default=None, name="t")
    words: msgspec.Raw = msgspec.field(default=_NOTHING, name="c")
    ts: Any = None
    messages: msgspec.Raw = _NOTHING
    #: The first line of a companion: what it is called, whose sub-agent's it is, when that began, and its header.
    own: Any = msgspec.field(default=None, name="session_id")
    parent: Any = msgspec.field(default=None, name="parent_session")
    started: Any = msgspec.field(default=None, name="started_at")
    header: msgspec.Raw = _NOTHING
    message: msgspec.Raw = _NOTHING
    payload: msgspec.Raw = _NOTHING
    content: msgspec.Raw = _NOTHING
    set: msgspec.Raw = msgspec.field(default=_NOTHING, name="$set")


class _Inner(msgspec.Struct):
    """What stands one level deeper."""

    type: Any = None
    id: Any = None
    role: Any = None
    session: Any = msgspec.field(default=None, name="session_id")
    cwd: Any = None
    agent: Any = None
    header: msgspec.Raw = _NOTHING
    content: msgspec.Raw = _NOTHING
    parts: msgspec.Raw = _NOTHING
    message: msgspec.Raw = _NOTHING
    messages: msgspec.Raw = _NOTHING


class _Part(msgspec.Struct):
    """A part of a message."""

    type: Any = None
    text: Any = None
    thought: Any = None

    @property
    def is_said(self) -> bool:
        """Whether it is words, and no thought."""
        return (self.type is None or (isinstance(self.type, str) and self.type in _SAID)) and not self.thought


_LINE = msgspec.json.Decoder(_Line)
_INNER = msgspec.json.Decoder(_Inner)
_MESSAGES = msgspec.json.Decoder(list[_Line])
_CONTENT = msgspec.json.Decoder(list[_Part | str] | _Part | str | None)
#: The parts that are words.
_SAID = frozenset({"text", "input_text", "output_text"})


class Facts(msgspec.Struct):
    """What is known so far; times are nanoseconds since 1970."""

    session: str | None = None
    thread: str | None = None
    first_at: int | None = None
    last_at: int | None = None
    title: str | None = None
    messages: int = 0
    #: The folder that the agent worked in, or the SHA-256 of its path.
    folder: str | None = None
    #: The ids of messages that were counted, and until when all were, whatever their ids.
    heard: set[str] = msgspec.field(default_factory=set)
    heard_until: int | None = None
    #: The agent, where a log names it and its format does not.
    client: str | None = None

    def date(self, text: object) -> None:
        """Something happened then."""
        at = instant(text) if isinstance(text, str) else None
        if at is not None:
            self.first_at = at if self.first_at is None else min(at, self.first_at)
            self.last_at = at if self.last_at is None else max(at, self.last_at)

    def entitle(self, words: str) -> None:
        """Take the first words of a user."""
        words = " ".join(words[:_LONGEST_WORDS].split())
        if self.title is None and words and not words.startswith(_WRAPPERS):
            self.title = words

    def hear(self, key: object = None, at: int | None = None) -> None:
        """Something was said. By its id it is known if it is written down again."""
        if isinstance(key, str):
            is_old = self.heard_until is not None and at is not None and at <= self.heard_until
            if is_old or key in self.heard:
                return
            self.heard.add(key)
        self.messages += 1

    def settle(self, folder: object) -> None:
        """The agent worked there: the first folder counts, and more than the digest of one."""
        if isinstance(folder, str) and folder and (self.folder is None or _is_digest(self.folder)):
            self.folder = self.folder if self.folder is not None and _is_digest(folder) else folder


def _is_digest(folder: str) -> bool:
    return _DIGEST.fullmatch(folder) is not None


def shorten(title: str) -> str:
    """A title that fits into a line; secrets are out of it already."""
    return title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1] + "…"


def of_path(format_name: str, path: PurePath) -> Facts:
    """What the name of a file tells."""
    if format_name == "claude-code":
        above = path.parents[1].name if path.parent.name == "subagents" and len(path.parents) > 1 else None
        thread = path.stem.removeprefix("agent-") if path.stem.startswith("agent-") else None
        return Facts(session=above or (path.stem if _UUID.fullmatch(path.stem) else None), thread=thread)
    if format_name == "gemini-cli" and path.parent.parent.name == "chats":
        return Facts(session=path.parent.name, thread=path.stem)
    if format_name == "codex":
        found = _UUID.findall(path.stem)
        return Facts(session=found[-1] if found else None)
    return Facts()


def is_broken(format_name: str, text: str) -> bool:
    """Whether a line that should be JSON is none."""
    if format_name not in _JSON_LINES or not text.strip():
        return False
    try:
        _LINE.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return True
    return False


def take(facts: Facts, format_name: str, text: str) -> None:
    """Learn from a line, in order; of a document, from all of it."""
    if format_name == "specstory":
        _take_markdown(facts, text)
    elif format_name == "bbox":
        _take_log(facts, text)
    elif format_name == "opencode":
        _take_row(facts, load(text))
    else:
        try:
            line = _LINE.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        if format_name == "codex":
            _take_codex(facts, line)
        else:
            if format_name == "companion":
                _take_start(facts, line)
            _take_line(facts, line)


def _take_line(facts: Facts, line: _Line) -> None:
    """Claude Code, Gemini CLI, Qwen Code and companions: a type, a time, and a message or its content."""
    for time in (line.timestamp, line.begun, line.updated, line.ts):
        facts.date(time)
    if facts.session is None and isinstance(line.session, str):
        facts.session = line.session
    if facts.thread is None and isinstance(line.agent, str) and line.type != "agent-meta":
        facts.thread = line.agent
    for folder in (line.cwd, line.project, *(line.directories if isinstance(line.directories, list) else ())):
        facts.settle(folder)
    inner = _inner(line.message) if line.message else _Inner()
    if facts.session is None and isinstance(inner.session, str):
        facts.session = inner.session
    is_users = line.type == "user" or line.short == "u"
    if is_users or line.type in ("assistant", "gemini") or line.short == "a":
        texts = [text for raw in (line.content, line.words, inner.content, inner.parts) for text in _texts(raw)]
        _take_words(facts, line, texts, is_users=is_users)
    for raw in (line.messages, _inner(line.set).messages if line.set else _NOTHING):
        for message in _messages(raw):
            _take_line(facts, message)


def _take_words(facts: Facts, line: _Line, texts: list[str], *, is_users: bool) -> None:
    if is_users:
        for text in texts:
            workspace = _WORKSPACE.search(text) if text.lstrip().startswith("<session_context>") else None
            facts.settle(workspace[1].strip() if workspace is not None else None)
        texts = [] if line.is_meta or line.is_summary else _own(texts)
        facts.entitle(texts[0] if texts else "")
    if texts and not line.is_error:
        facts.hear(line.id, instant(line.timestamp) if isinstance(line.timestamp, str) else None)


def _take_start(facts: Facts, line: _Line) -> None:
    """The first line of a companion: who wrote it, and of a sub-agent's, whose that is."""
    facts.date(line.started)
    if line.type == "header" and isinstance(line.parent, str) and isinstance(line.own, str):
        facts.session, facts.thread = line.parent, line.own
    if line.type in ("system", "header"):
        _name(facts, _inner(line.header or _inner(line.message).header).agent)


def _take_codex(facts: Facts, line: _Line) -> None:
    facts.date(line.timestamp)
    payload = _inner(line.payload)
    if line.type in ("session_meta", "turn_context"):
        facts.settle(payload.cwd)
    if line.type == "session_meta" and isinstance(payload.id, str):
        owner = payload.session if isinstance(payload.session, str) else payload.id
        facts.session, facts.thread = owner, payload.id if payload.id != owner else None
    elif line.type == "response_item" and payload.type == "message" and payload.role in ("user", "assistant"):
        texts = _texts(payload.content)
        texts = _own(texts) if payload.role == "user" else texts
        if texts:
            facts.hear()
        if texts and payload.role == "user":
            facts.entitle(texts[0])
    elif line.type == "event_msg" and payload.type == "user_message":
        facts.entitle(next(iter(_own(_texts(payload.message))), ""))


def _take_markdown(facts: Facts, text: str) -> None:
    """A document of SpecStory: only its header and the lines above turns tell times; all else may be quoted."""
    turns = _turns(text)
    head = text[: turns[0].start()] if turns else text
    header = _SPECSTORY_SESSION.search(head)
    begun = None
    if header is not None:
        facts.session = header[1]
        facts.date(_moment(header[2] or ""))
        begun = facts.first_at
    for turn, words in _sections(text, turns):
        moment = _moment((turn[3] or "").strip())
        at = instant(moment)
        if begun is None or at is None or at >= begun:
            facts.date(moment)
            if _own([words]) if turn[1] == "User" else _SPECSTORY_BLOCK.sub("", words).strip():
                facts.hear()
    heading = _HEADING.search(head)
    is_title = heading is not None and _moment(heading[1].strip()) is None
    facts.entitle(_first_words(_said(text, turns)) or (heading[1] if heading is not None and is_title else ""))


def _turns(text: str) -> list[re.Match[str]]:
    """The lines above the turns; those in fenced code are quoted."""
    edges: list[int] = []
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        is_like = opened is not None and fence[1].startswith(opened[1])
        # One that begins anew before the last was closed: that one was never closed, and fences nothing.
        if opened is None or (is_like and fence[2].strip()):
            opened = fence
        elif is_like:
            edges += [opened.start(), fence.end()]
            opened = None
    return [turn for turn in _SPECSTORY_TURN.finditer(text) if bisect.bisect(edges, turn.start()) % 2 == 0]


def _sections(text: str, turns: list[re.Match[str]]) -> Iterator[tuple[re.Match[str], str]]:
    """The turns, and what stands under the line of each."""
    ends = [*(turn.start() for turn in turns), len(text)][1:]
    for turn, end in zip(turns, ends, strict=True):
        yield turn, text[turn.end() : end].strip().removesuffix("---").strip()


def _said(text: str, turns: list[re.Match[str]]) -> Iterator[str]:
    """What the user said, turn by turn."""
    return (words for turn, words in _sections(text, turns) if turn[1] == "User" and not turn[2])


def _first_words(said: Iterable[str]) -> str:
    """The first words or command of a user; one that the client answered by itself only if there is no other."""
    spare = ""
    for words, following in itertools.pairwise(itertools.chain(said, [""])):
        command = _COMMAND.search(words) if words.startswith("<command-") else None
        if command is not None:
            given = _ARGUMENTS.search(words)
            title = f"{command[1]} {given[1] if given is not None else ''}".strip()
            if not following.startswith(_ANSWERED):
                return title
            spare = spare or title
        elif words and not words.startswith(_WRAPPERS):
            return words.partition("\n")[0]
    return spare


def _moment(text: str) -> str | None:
    """The time that a text ends with; one without a zone is in UTC."""
    when = _SPECSTORY_TIME.search(text)
    return f"{when[1]}T{when[2]}{when[3] or 'Z'}" if when is not None else None


def _take_log(facts: Facts, text: str) -> None:
    """A line of a flight log: what stands in its words and results is quoted, and tells nothing of the log."""
    kind = classify(text)
    if kind is Kind.UNKNOWN and not facts.messages and facts.first_at is None:
        field = _HEADER_FIELD.fullmatch(text.strip())
        if field is not None:
            _take_field(facts, field[1], field[2].strip("\"'"))
    if kind in (Kind.UNKNOWN, Kind.BLANK, Kind.CONTINUATION, Kind.COMMENT):
        return
    line = Line(kind, 1, text)
    facts.date(line.meta.raw.get("ts"))
    if isinstance(line.event, Message) and line.event.text.strip():
        facts.hear()
    if kind is Kind.USER and isinstance(line.event, Message):
        facts.entitle(line.event.text)


def _take_field(facts: Facts, name: str, value: str) -> None:
    if name == "agent":
        _name(facts, value)
    elif name in ("id", "session"):
        facts.session = facts.session or value
    else:
        facts.session, facts.thread = value, facts.session


def _name(facts: Facts, agent: object) -> None:
    if facts.client is None and isinstance(agent, str) and agent not in _NOBODY:
        facts.client = agent


def _take_row(facts: Facts, row: dict[str, Any]) -> None:
    times = [at * 1_000_000 for key in ("time_created", "time_updated") if isinstance(at := row.get(key), int)]
    if times:
        facts.first_at = min(facts.first_at or times[0], *times)
        facts.last_at = max(facts.last_at or 0, *times)
    if row.get("table") == "session":
        facts.settle(row.get("directory"))
        if isinstance(row.get("title"), str):
            facts.title = None
            facts.entitle(row["title"])
    data = row.get("data")
    if row.get("table") == "part" and isinstance(data, dict) and data.get("type") == "text":
        text = data.get("text")
        # What the client says in somebody's name is marked.
        if isinstance(text, str) and text.strip() and not data.get("synthetic"):
            facts.hear(row.get("message_id"), times[0] if times else None)


def _inner(raw: msgspec.Raw) -> _Inner:
    try:
        return _INNER.decode(raw) if raw else _Inner()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _Inner()


def _messages(raw: msgspec.Raw) -> list[_Line]:
    try:
        return _MESSAGES.decode(raw) if raw else []
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []


def _texts(raw: msgspec.Raw) -> list[str]:
    """The words of a message's content, without thoughts."""
    try:
        content = _CONTENT.decode(raw) if raw else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []
    parts = content if isinstance(content, list) else [content]
    said = (part.text if isinstance(part, _Part) and part.is_said else part for part in parts)
    return [text for text in said if isinstance(text, str) and text.strip()]


def _own(texts: Iterable[str]) -> list[str]:
    """Without what a client wraps around a user's words."""
    return [text for text in texts if text.strip() and not text.lstrip().startswith(_WRAPPERS)]
