"""The artifacts: what a session leaves behind that is worth knowing later, each tied to the bytes that say so."""

import enum
import hashlib
from base64 import b32encode

import msgspec

from blackbird.canon.model import Evidence, Span


class Type(enum.StrEnum):
    """What kind of thing an artifact is."""

    OUTCOME = "outcome"
    DECISION = "decision"
    CONSTRAINT = "constraint"
    THREAD = "open_thread"
    SEGMENT = "transcript"
    #: What is known of the project: its languages, its layout, the commands that worked.
    FACT = "fact"
    SUMMARY = "summary"


class Status(enum.StrEnum):
    """How a task ended. Without evidence it is unknown: a verdict without evidence is worse than none."""

    SUCCESS = "success"
    FAIL = "fail"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"


class Speaker(enum.StrEnum):
    """Who said something: the human at the keyboard, or the agent."""

    USER = "user"
    AGENT = "agent"


class Signal(enum.IntEnum):
    """What something was concluded from; a lower one is trusted more."""

    #: A question with the option that was chosen, a plan that was approved, the state of a todo.
    STRUCTURED = 1
    #: What the human told the agent to do.
    IMPERATIVE = 2
    #: What the agent said.
    PROSE = 3


class Reach(enum.StrEnum):
    """How far a constraint reaches."""

    SESSION = "session"
    TASK = "task"


class ThreadKind(enum.StrEnum):
    """What is left open."""

    TODO = "todo"
    BLOCKER = "blocker"
    QUESTION = "question"


class ThreadState(enum.StrEnum):
    """How far an open thread is; the last three are closed."""

    OPEN = "open"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    ANSWERED = "answered"
    DROPPED = "dropped"

    @property
    def is_open(self) -> bool:
        """Whether something is left to be done."""
        return self in (ThreadState.OPEN, ThreadState.IN_PROGRESS)


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Where an artifact comes from: an item of the timeline, and the bytes of the trace in which it stands.

    `quote` are words of it: those from character `first` on of a text whose stretches `spans` place in the body; only
    the stretches that the quote touches are kept. Without a quote the item as a whole is meant.
    """

    item: str
    evidence: Evidence
    quote: str = ""
    first: int = 0
    spans: tuple[Span, ...] = ()


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a file. `cause` is the item of the timeline that changed it, `request` the turn before it.

    `decision` is the artifact of the decision that names the file, if one does.
    """

    path: str
    added: int | None = None
    removed: int | None = None
    #: `created`, `edited`, `deleted`, `renamed`.
    action: str = "edited"
    symbols: tuple[str, ...] = ()
    cause: str | None = None
    request: str | None = None
    decision: str | None = None


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A command that was run. `kind` is `test`, `build`, `lint`, `vcs` or `other`; `ok` is None if nobody knows."""

    line: str
    kind: str = "other"
    exit_code: int | None = None
    ok: bool | None = None
    #: What its output says, in one line: `3 passed, 1 failed`.
    said: str | None = None
    #: How often it was run in a row with the same end.
    times: int = 1
    item: str | None = None


class Outcome(msgspec.Struct, frozen=True, kw_only=True, tag="outcome"):
    """How a run of a task ended, by the last evidence, which `decided_by` names."""

    status: Status
    decided_by: str | None = None
    description: str | None = None
    bullets: tuple[str, ...] = ()
    files: tuple[Change, ...] = ()
    read: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()
    errors: tuple[str, ...] = ()
    #: Those of the errors that were gone when the same command was run again.
    mended: tuple[str, ...] = ()
    #: The agent's last words.
    final: str | None = None


class _Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """What holds from `holds_from` until `holds_until` (nanoseconds since 1970; None: it still does).

    `recorded` is the segment and sequence of the record that brought it into the trace: the second clock.
    """

    statement: str
    by: Speaker
    signal: Signal
    rationale: str | None = None
    #: What it is about, where it says so, and what was chosen for it, or forbidden.
    subject: str | None = None
    choice: str | None = None
    holds_from: int | None = None
    holds_until: int | None = None
    last_said: int | None = None
    times: int = 1
    recorded: tuple[int, int] | None = None
    supersedes: str | None = None
    superseded_by: str | None = None

    @property
    def is_active(self) -> bool:
        """Whether it still holds."""
        return self.superseded_by is None and self.holds_until is None


class Decision(_Ruling, frozen=True, kw_only=True, tag="decision"):
    """What was settled, and what else might have been."""

    alternatives: tuple[str, ...] = ()


class Constraint(_Ruling, frozen=True, kw_only=True, tag="constraint"):
    """What must be, or must not.

    `overrides` are session-wide constraints of the same subject that this one, local to a task, goes before.
    """

    must: bool
    reach: Reach
    overrides: tuple[str, ...] = ()


class OpenThread(msgspec.Struct, frozen=True, kw_only=True, tag="open_thread"):
    """What was left to do, to answer or to clear away, and whether it was."""

    text: str
    kind: ThreadKind
    state: ThreadState
    by: Speaker
    signal: Signal
    opened_at: int | None = None
    closed_at: int | None = None
    #: What closed it, in words: an answer, a todo that was checked off.
    closed_by: str | None = None


class Segment(msgspec.Struct, frozen=True, kw_only=True, tag="transcript"):
    """A small piece of the conversation, to be cited and to be found when nothing better is."""

    speaker: str
    text: str
    position: int
    paths: tuple[str, ...] = ()


class Fact(msgspec.Struct, frozen=True, kw_only=True, tag="fact"):
    """What is known of the project: `language`, `layout`, `test_command`, `build_command`, `lint_command`, `tool`."""

    name: str
    value: str
    times: int = 1
    last_at: int | None = None


class Summary(msgspec.Struct, frozen=True, kw_only=True, tag="summary"):
    """A session in some lines."""

    goal: str | None = None
    #: The session so far by the word of its harness, as it was said last.
    checkpoint: str | None = None
    bullets: tuple[str, ...] = ()
    #: Those that ran, then those that are only planned.
    tasks: tuple[str, ...] = ()
    counts: dict[str, int] = {}


Content = Outcome | Decision | Constraint | OpenThread | Segment | Fact | Summary


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    """One artifact. `at` is when it was last confirmed (nanoseconds since 1970); when it was built stands nowhere."""

    id: str
    type: Type
    session: str
    task: str | None = None
    run: str | None = None
    title: str
    content: Content
    provenance: tuple[Provenance, ...]
    builder: str
    at: int | None = None

    def __post_init__(self) -> None:
        if not self.provenance:
            raise ValueError(f"{self.id}: an artifact without evidence")


def artifact_id(kind: Type, session: str, *key: str) -> str:
    """The same for the same thing in every rebuild: its type, its session and what it is, never its evidence."""
    digest = hashlib.sha256("\x1f".join((kind, session, *key)).encode("utf-8", "surrogatepass")).digest()
    return "art_" + b32encode(digest[:10]).decode().lower()
