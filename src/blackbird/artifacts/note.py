"""What is kept of a session beside its artifacts: what it is for, where it took place and when."""

import re
from collections.abc import Iterable

import msgspec

from blackbird.artifacts import plan
from blackbird.artifacts.model import Artifact
from blackbird.artifacts.plan import Task
from blackbird.timeline import spending, statements
from blackbird.timeline.timeline import Spent, Stated, Timeline


class Spending(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one model took for one run of a task; of what nobody registered, task and run are missing."""

    task: str | None = None
    run: str | None = None
    model: str
    spent: Spent


#: So many sessions of a project are searched, and drawn upon for packs: the last ones.
SESSIONS = 60
#: Folders that hold all of a user's projects, or a machine's: what lies below them has nothing else in common.
_OF_A_USER = re.compile(r"(?:/[^/]+)?|/(?:home|users)/[^/]+", re.IGNORECASE)


class Note(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session in a few facts. Times are nanoseconds since 1970."""

    session: str
    goal: str | None = None
    title: str | None = None
    client: str | None = None
    #: Where it took place, by what tells projects apart best: the folder that the repository begins at, else its own.
    folder: str | None = None
    root: str | None = None
    repository: str | None = None
    began: int | None = None
    ended: int | None = None
    is_active: bool = False
    #: When it was opened by hand, and when it was said to be over.
    opened: int | None = None
    closed: int | None = None
    plan: tuple[Task, ...] = ()
    #: Tokens and money as the providers told them, in the order in which each was first asked.
    spent: tuple[Spending, ...] = ()

    def is_project_of(self, other: "Note") -> bool:
        """Whether both took place in the same project.

        A repository is a project by itself: what is above it, beside it or nested in it is another.
        """
        if self.repository is not None and other.repository is not None:
            return self.repository == other.repository
        if self.root and other.root:
            return _spelled(self.root) == _spelled(other.root)
        if self.root or other.root:
            return _lies_in(self.root or other.root, other.folder if self.root else self.folder)
        return _lies_in(self.folder, other.folder) or _lies_in(other.folder, self.folder)


def _lies_in(outer: str | None, inner: str | None) -> bool:
    """Whether a folder is another, or lies below it and has more in common with it than its user."""
    if not outer or not inner:
        return False
    above, below = _spelled(outer), _spelled(inner)
    return above == below or (below.startswith(above + "/") and _OF_A_USER.fullmatch(above) is None)


def _spelled(folder: str) -> str:
    """Disks that do not tell capitals apart let the same folder be spelled in several ways."""
    return folder.lower().rstrip("/")


def of_project(own: Note, notes: Iterable[Note]) -> list[str]:
    """The last other sessions of a session's project, the newest first, as many as are drawn upon."""
    found = [each for each in notes if each.session != own.session and own.is_project_of(each)]
    found.sort(key=lambda each: (-(each.ended or each.began or 0), each.session))
    return [each.session for each in found[:SESSIONS]]


def note(timeline: Timeline, artifacts: Iterable[Artifact] = ()) -> Note:
    """What is known of a session by its end so far, and by what it left behind."""
    about = timeline.about
    opened, closed = _open_and_closed(timeline.stated)
    return Note(
        session=about.session,
        goal=about.goal,
        title=about.title,
        client=about.client,
        folder=about.cwd,
        root=about.root,
        repository=about.repository,
        began=about.began,
        ended=about.ended,
        is_active=about.is_active,
        opened=opened,
        closed=closed,
        plan=plan.plan(timeline.stated, artifacts),
        spent=_spent(timeline),
    )


def _open_and_closed(stated: Iterable[Stated]) -> tuple[int | None, int | None]:
    """When a session was opened first, and when it was closed for good."""
    opened: int | None = None
    closed: int | None = None
    for one in stated:
        if one.event == statements.SESSION_START:
            opened, closed = one.at if opened is None else opened, None
        elif one.event == statements.SESSION_END:
            closed = one.at
    return opened, closed


def _spent(timeline: Timeline) -> tuple[Spending, ...]:
    tasks = {stated.run: stated.task for stated in timeline.stated if stated.run and stated.task}
    shares = spending.by_share(timeline.items, tasks)
    return tuple(
        Spending(task=task, run=run, model=model, spent=spent) for (task, run, model), spent in shares.items()
    )
