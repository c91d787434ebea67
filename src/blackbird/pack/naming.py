"""The files and commands that a pack names, in lines of some."""

from blackbird.artifacts.model import Outcome
from blackbird.pack import working
from blackbird.pack.marking import quoted
from blackbird.pack.material import Candidate, Choice, Material
from blackbird.pack.working import Batch

_TITLES = {working.FILES: "files", working.COMMANDS: "commands"}
#: A line is cut to what fits by naming less, never within a name.
_UNCUT = 10_000


def files(material: Material) -> Choice:
    """What will most likely be needed again, from where the work is going to be."""
    outcomes = [one for one in material.every() if isinstance(one.content, Outcome)]
    found = working.working_set(
        outcomes,
        material.folders,
        folder=_folder(material),
        description=material.wanted.description,
    )
    candidates = [_candidate(material, batch) for batch in working.batches(found)]
    return Choice("files", "Files and commands", candidates)


def _folder(material: Material) -> str | None:
    """Where the work is going to be; if nobody says so, where it was last."""
    known = [material.folders.get(one.session) for one in material.every()]
    return material.wanted.folder or next((folder for folder in known if folder is not None), None)


def _candidate(material: Material, batch: Batch) -> Candidate:
    title = _TITLES[batch.kind]
    first = batch.items[0]
    sessions = {one.id: one.session for one in material.every()}
    session = sessions[first.ids[0]]
    return Candidate(
        ids=first.ids[:1],
        forms=tuple(
            quoted(f"{title}: {working.spelled(batch, count)}", _UNCUT) for count in range(len(batch.items), 0, -1)
        ),
        why=f"{first.text}: {first.why}",
        session=session if session != material.wanted.session else None,
    )
