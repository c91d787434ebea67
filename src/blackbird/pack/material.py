"""What a section chooses from: lines that might be in it, the best first, and what is left out beforehand."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from blackbird.artifacts.model import Artifact
from blackbird.artifacts.note import Note
from blackbird.pack.model import LeftOut, Wanted
from blackbird.pack.relevance import Task


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """All that a pack may draw upon. `own` is of its session, `others` of those of its project, the newest first."""

    wanted: Wanted
    ahead: Task
    note: Note | None = None
    own: tuple[Artifact, ...] = ()
    others: tuple[tuple[Artifact, ...], ...] = ()
    #: The folder of each session, by which its relative paths are understood.
    folders: Mapping[str, str | None] = {}
    #: Where the task ahead will be worked on.
    folder: str | None = None
    state: str = ""
    builder: str = ""

    def every(self) -> list[Artifact]:
        """Those of the session, then those of each other one."""
        return [*self.own, *(artifact for session in self.others for artifact in session)]

    def is_other(self, artifact: Artifact) -> bool:
        """Whether it comes from another session."""
        return artifact.session != self.wanted.session


class Candidate(NamedTuple):
    """A line that might be in a section. `forms` say it ever more briefly; the longest that fits is taken."""

    ids: tuple[str, ...]
    forms: tuple[str, ...]
    why: str
    bullets: tuple[str, ...] = ()
    session: str | None = None

    @property
    def title(self) -> str:
        """What it is, for whoever asks why it is not there."""
        return self.forms[0]


class Choice(NamedTuple):
    """What a section chooses from."""

    name: str
    title: str
    candidates: Sequence[Candidate] = ()
    left_out: Sequence[LeftOut] = ()
