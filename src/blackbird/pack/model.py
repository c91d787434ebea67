"""A context pack as a value: sections of lines, each with why it is there, and what was left out and why."""

import msgspec


class Caps(msgspec.Struct, frozen=True, kw_only=True):
    """How many tokens a pack may take in all, and each of its sections at most."""

    total: int = 1500
    goal: int = 60
    facts: int = 80
    files: int = 600
    decisions: int = 200
    constraints: int = 150
    implemented: int = 300
    warnings: int = 80
    open_threads: int = 150
    pointers: int = 100


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which pack is asked for: for a task of a session, or for whatever comes next in a project."""

    session: str | None = None
    task: str | None = None
    description: str | None = None
    #: Where the agent is going to work, for a session that nothing is known of yet.
    folder: str | None = None
    #: The folder that its repository begins at, if it is in one.
    root: str | None = None
    caps: Caps = Caps()


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a pack: what it says, marked as the words of others, and the artifacts it stands for.

    `bullets` stand below it, and are of the same artifacts. `tokens` are those of all of this with its ids.
    """

    text: str
    ids: tuple[str, ...]
    tokens: int
    why: str
    bullets: tuple[str, ...] = ()
    #: The session that it comes from, if that is another one.
    session: str | None = None


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a pack. `cap` is the most it may take, `share` what it was given at last, `tokens` what it took."""

    name: str
    title: str
    cap: int
    share: int
    tokens: int
    lines: tuple[Line, ...] = ()


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """What might have been in a pack, and why it is not."""

    id: str
    section: str
    title: str
    why: str


class Pack(msgspec.Struct, frozen=True, kw_only=True):
    """A pack. The same state of the memory, asked the same, gives the same bytes."""

    session: str | None
    task: str | None
    description: str | None
    budget: int
    tokens: int
    counter: str
    builder: str
    #: What it was made from: a digest of the sessions that it could draw upon.
    state: str
    text: str
    #: The tokens of the tag around it and of what the agent is told about it.
    frame: int = 0
    sections: tuple[Section, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
