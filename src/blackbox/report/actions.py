"""What counts as an action in a JSONL log, and how many there were a minute.

An action is one tool call, or one message of the agent that has text. Each counts once, by the id of the call or of
the message, however many lines of a file repeat it: a streamed message repeats its id for every block. Many writers
number their calls anew in each file (`call_1`), so the same id in another file is the same action only where it was
copied, as into a resumed session: an id that is random by nature (a UUID, or 16 characters and more behind `toolu_`,
`msg_`, `call_` …), or any id with the same timestamp to the fraction of a second. A copied action counts for the
session that ended first.

A companion is a session by its folder and name: its session id may be a time of day, which comes again tomorrow. It
only tells which agent's own log is of the same session.

Minutes are those from a session's first to its last timestamp, its sub-agents inside; a resumed session begins behind
what it copied. Without two different timestamps the length is unknown, and so are the actions per minute.

Read are the companions of logs (`{type, message, timestamp}` with the calls inside the message, or flat with a line a
call), Claude Code's own logs and the rollouts of Codex.
"""

import array
import enum
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from blackbox.syntax.values import timestamp

#: What Claude Code's own lines have beside the session's id, and no companion has.
_CLAUDE_KEYS = frozenset({"isSidechain", "parentUuid", "uuid", "version"})
_TURNS = frozenset({"user", "assistant", "system", "result"})
_FLAT = frozenset({"tool_use", "tool_result", "header"})
_ROLLOUT = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_ROLLOUT_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "mcp_call"})
_TEXTS = frozenset({"text", "output_text"})
#: An id that no other session makes up: a UUID, or 16 letters and digits mixed, maybe behind words.
_RANDOM = re.compile(
    r"(?:[A-Za-z0-9]+[_-])*?"
    r"(?:[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|(?=[0-9A-Z]*[A-Za-z])(?=[a-z]*[0-9A-Z])[A-Za-z0-9]{16,})"
)


class Form(enum.StrEnum):
    """Who wrote a JSONL log."""

    COMPANION = "companion"
    CLAUDE = "claude"
    CODEX = "codex"


class Action(NamedTuple):
    """One action as a line tells it; without a key nothing can repeat it."""

    is_call: bool
    key: str | None


class Entry(NamedTuple):
    """What one line says: its session, that session's parent, when it was, and the actions on it."""

    form: Form | None
    session: str | None = None
    parent: str | None = None
    time: float | None = None
    actions: tuple[Action, ...] = ()


class _Done(NamedTuple):
    is_call: bool
    key: str | None
    time: float | None


class FileActions:
    """The actions of one file, read line by line. `name` is the file's without folder and `.jsonl`."""

    def __init__(self, name: str, folder: str = "", path: str = "") -> None:
        self.name = name
        self.folder = folder
        self.path = path
        self.form: Form | None = None
        self.lines = 0
        #: Lines that are no JSON object.
        self.bad_lines = 0
        #: The sessions its lines name, in order; a sub-agent's is its parent's.
        self.sessions: dict[str, None] = {}
        self.parent: str | None = None
        self.done: list[_Done] = []
        self.times = array.array("d")

    def add(self, value: object) -> None:
        """The next line, decoded; None for one that is no JSON."""
        self.lines += 1
        if not isinstance(value, Mapping):
            self.bad_lines += 1
            return
        entry = read_entry(value)
        # A companion has lines of its own kind besides those that look like an agent's.
        self.form = self.form or entry.form
        if entry.session is not None:
            self.sessions.setdefault(entry.session)
        self.parent = self.parent or entry.parent
        if entry.time is not None:
            self.times.append(entry.time)
        self.done += [_Done(action.is_call, action.key, entry.time) for action in entry.actions]


class SessionActions(msgspec.Struct, frozen=True):
    """How busy a session was. `copied` are actions that count for another session."""

    session: str
    source: Form
    files: tuple[str, ...]
    messages: int
    tool_calls: int
    copied: int
    minutes: float | None

    @property
    def actions(self) -> int:
        """Messages with text and tool calls."""
        return self.messages + self.tool_calls

    @property
    def apm(self) -> float | None:
        """Actions a minute; None if the session's length is not known."""
        return self.actions / self.minutes if self.minutes else None


class Total(msgspec.Struct, frozen=True):
    """All sessions together. Actions a minute are of those whose length is known."""

    sessions: int
    actions: int
    messages: int
    tool_calls: int
    minutes: float | None
    apm: float | None
    #: Sessions that could not be timed; their actions are counted and not divided.
    untimed: int


def read_entry(value: Mapping[str, Any]) -> Entry:
    """What one decoded line says; an entry without form is of a kind that tells nothing about actions."""
    kind = value.get("type")
    if not isinstance(kind, str):
        return Entry(None)
    time = _time(value.get("timestamp"))
    payload = value.get("payload")
    if kind in _ROLLOUT and isinstance(payload, Mapping):
        return _rollout(kind, payload, time)
    if kind in _FLAT:
        return _flat(kind, value, time)
    message = value.get("message")
    session = _text(value.get("sessionId"))
    form = Form.CLAUDE if session is not None and value.keys() & _CLAUDE_KEYS else Form.COMPANION
    if session is None:
        inner = message.get("session_id") if isinstance(message, Mapping) else None
        session = _text(value.get("session_id")) or _text(inner)
    if kind not in _TURNS or not isinstance(message, Mapping):
        return Entry(None, session, None, time)
    if kind != "assistant" or value.get("isApiErrorMessage") is True:
        return Entry(form, session, None, time)
    return Entry(form, session, None, time, _turn(message, _text(value.get("uuid"))))


def _turn(message: Mapping[str, Any], line: str | None) -> tuple[Action, ...]:
    """The actions in a message: its text, whatever number of blocks it has, and each call."""
    content = message.get("content")
    key = _text(message.get("id")) or line
    if isinstance(content, str):
        return (Action(False, key),) if content.strip() else ()
    blocks = [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []
    calls = [Action(True, _text(block.get("id"))) for block in blocks if block.get("type") == "tool_use"]
    return (*((Action(False, key),) if _has_text(blocks) else ()), *calls)


def _flat(kind: str, value: Mapping[str, Any], time: float | None) -> Entry:
    """A line of the flat form: a call has a line of its own, a sub-agent's file begins with a header."""
    session = _text(value.get("session_id"))
    if kind == "header":
        started = _time(value.get("started_at"))
        return Entry(Form.COMPANION, session, _text(value.get("parent_session")), started if time is None else time)
    if kind == "tool_use":
        key = _text(value.get("id")) or _text(value.get("tool_use_id"))
        return Entry(Form.COMPANION, session, None, time, (Action(True, key),))
    return Entry(Form.COMPANION, session, None, time)


def _rollout(kind: str, payload: Mapping[str, Any], time: float | None) -> Entry:
    """A line of a Codex rollout. `event_msg` repeats what `response_item` has said, for the screen."""
    if kind == "session_meta":
        own = _text(payload.get("id"))
        parent = _text(payload.get("parent_thread_id")) or _text(payload.get("session_id"))
        return Entry(Form.CODEX, own or parent, parent if parent != own else None, time)
    if kind != "response_item":
        return Entry(Form.CODEX, time=time)
    item = payload.get("type")
    actions: tuple[Action, ...] = ()
    if item in _ROLLOUT_CALLS:
        actions = (Action(True, _text(payload.get("call_id")) or _text(payload.get("id"))),)
    elif item == "message" and payload.get("role") == "assistant":
        content = payload.get("content")
        blocks = [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []
        actions = (Action(False, _text(payload.get("id"))),) if _has_text(blocks) else ()
    return Entry(Form.CODEX, time=time, actions=actions)


class _Group:
    """The files of one session: its own and its sub-agents'."""

    def __init__(self) -> None:
        self.files: list[FileActions] = []

    @property
    def name(self) -> str:
        """The name of the session's own file; an agent's own log is known by its session id."""
        own = next((file for file in self.files if not _is_subagent(file)), self.files[0])
        if own.form is Form.CODEX:
            return next(iter(own.sessions), own.name)
        return own.name.partition(".sub-")[0] if _is_subagent(own) and own.form is Form.COMPANION else own.name

    @property
    def form(self) -> Form:
        forms = {file.form for file in self.files}
        return next((form for form in Form if form in forms), Form.COMPANION)

    @property
    def last(self) -> float:
        return max((max(file.times) for file in self.files if file.times), default=float("inf"))


def count_actions(files: Iterable[FileActions]) -> list[SessionActions]:
    """The sessions of some files in order of their names, each action counted once in its file, and no copy of it.

    A session that has a companion and an agent's own log counts by its companion.
    """
    groups = _grouped([file for file in files if file.form is not None])
    owners: dict[str, int] = {}
    found: list[SessionActions] = []
    # A copy is made of what is there already: the session that ended first is the original.
    for number, group in enumerate(sorted(groups, key=lambda group: (group.last, group.name))):
        found.append(_count(group, number, owners))
    return sorted(found, key=lambda session: (list(Form).index(session.source), session.session, session.files))


def _count(group: _Group, number: int, owners: dict[str, int]) -> SessionActions:
    messages = calls = copied = 0
    copied_until = float("-inf")
    for file in group.files:
        keys: set[tuple[bool, str | None]] = set()
        for done in _without_repeats(file):
            # Without a name that holds beyond its file nothing can be a copy of it.
            name = _lasting_name(done)
            owner = owners.setdefault(name, number) if name is not None and name not in owners else None
            if name is None or owner is not None:
                calls += done.is_call
                messages += not done.is_call
            elif owners[name] != number:
                keys.add((done.is_call, done.key))
        copied += len(keys)
        # The blocks of a copied message may have times of their own.
        known = (done.time for done in file.done if done.time is not None and (done.is_call, done.key) in keys)
        copied_until = max((copied_until, *known))
    times = [time for file in group.files for time in file.times if time > copied_until]
    length = (max(times) - min(times)) / 60 if times else 0.0
    paths = tuple(file.path for file in group.files)
    return SessionActions(group.name, group.form, paths, messages, calls, copied, length or None)


def _without_repeats(file: FileActions) -> Iterator[_Done]:
    """The actions of a file, each at its first line. A call and a message may have the same id."""
    seen: set[tuple[bool, str]] = set()
    for done in file.done:
        if done.key is not None:
            if (done.is_call, done.key) in seen:
                continue
            seen.add((done.is_call, done.key))
        yield done


def _lasting_name(done: _Done) -> str | None:
    """What an action and its copy in another file have in common, and no other has; None if nothing is sure."""
    if done.key is None:
        return None
    name = f"{'call' if done.is_call else 'message'} {done.key}"
    if _RANDOM.fullmatch(done.key):
        return name
    # Two sessions that run at once may well have a `call_1` in the same second.
    return f"{name} {done.time}" if done.time is not None and not done.time.is_integer() else None


def _grouped(files: list[FileActions]) -> list[_Group]:
    """Files joined into sessions: agents' own by session id and parent, companions by `NAME.sub-ID` and parent."""
    groups: dict[str, _Group] = {}
    found: list[_Group] = []
    companions = {session for file in files if file.form is Form.COMPANION for session in file.sessions}
    # Parents first, so that a sub-agent finds the group of its parent under any of its names.
    for file in sorted(files, key=lambda file: (file.form is not Form.COMPANION, _is_subagent(file))):
        if file.form is not Form.COMPANION and companions.intersection(file.sessions):
            continue
        names, aliases = _names(file)
        group = next((groups[name] for name in names if name in groups), None)
        if group is None:
            group = _Group()
            found.append(group)
        group.files.append(file)
        for name in (*names, *aliases):
            groups.setdefault(name, group)
    return found


def _names(file: FileActions) -> tuple[list[str], list[str]]:
    """The names of the session that a file belongs to, best first, and those by which only others may mean it."""
    if file.form is not Form.COMPANION:
        return [name for name in (file.parent, *file.sessions) if name is not None] or [file.path or file.name], []
    stem, is_sub, _ = file.name.partition(".sub-")
    parent = [file.parent] if file.parent is not None else []
    names = [stem, *parent] if is_sub else parent or [file.name]
    # Sub-agents name their parent by its session id, and are in its folder.
    beside = [f"{file.folder}/{name}" for name in (*names, file.name, *file.sessions)]
    return beside[: len(names)], beside[len(names) :]


def _is_subagent(file: FileActions) -> bool:
    return file.parent is not None or ".sub-" in file.name or file.name.startswith("agent-")


def total_of(sessions: Iterable[SessionActions]) -> Total:
    """All sessions together."""
    every = list(sessions)
    timed = [session for session in every if session.minutes is not None]
    minutes = sum(session.minutes or 0.0 for session in timed) or None
    return Total(
        sessions=len(every),
        actions=sum(session.actions for session in every),
        messages=sum(session.messages for session in every),
        tool_calls=sum(session.tool_calls for session in every),
        minutes=minutes,
        apm=sum(session.actions for session in timed) / minutes if minutes else None,
        untimed=len(every) - len(timed),
    )


def _has_text(blocks: Iterable[Mapping[str, Any]]) -> bool:
    texts = (block.get("text") for block in blocks if block.get("type") in _TEXTS)
    return any(isinstance(text, str) and text.strip() for text in texts)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _time(value: object) -> float | None:
    moment = timestamp(value) if isinstance(value, str) else None
    return moment.timestamp() if moment is not None else None
