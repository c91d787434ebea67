"""What is kept of a session beside its artifacts: what it is for, where it took place and when."""

import msgspec

from blackbird.timeline.timeline import Timeline


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

    def is_project_of(self, other: "Note") -> bool:
        """Whether both took place in the same project."""
        if self.repository is not None and other.repository is not None:
            return self.repository == other.repository
        # Disks that do not tell capitals apart let the same folder be spelled in several ways.
        own, others = (self.root or self.folder or "").lower(), (other.root or other.folder or "").lower()
        if not own or not others:
            return False
        return own == others or (others + "/").startswith(own + "/") or (own + "/").startswith(others + "/")


def note(timeline: Timeline) -> Note:
    """What is known of a session by its end so far."""
    about = timeline.about
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
    )
