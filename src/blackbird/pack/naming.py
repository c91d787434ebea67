"""Files and commands worth knowing again, as lines of a pack: many names to a line, and one id."""

from collections import Counter
from collections.abc import Mapping

from blackbird.artifacts.model import Artifact, Outcome
from blackbird.pack.marking import quoted
from blackbird.pack.material import Candidate, Choice, Material
from blackbird.pack.working import Batch, WorkingSet, Worth, batches, spelled, working_set

_LONGEST = 160
#: So many lines are more than any pack holds.
_LINES = 40
_IDS = 1
_COMMANDS = 800


def files(material: Material) -> Choice:
    """The section of files and commands."""
    outcomes = _bounded(material)
    found = working_set(
        outcomes.values(),
        material.folders,
        folder=_folder(material),
        description=material.wanted.description,
        session=material.wanted.session,
    )
    marked = WorkingSet(
        files=tuple(map(_marked, found.files)),
        commands=tuple(map(_marked, found.commands)),
        # These stand behind a word of ours.
        errors=tuple(one._replace(text=quoted(one.text, _LONGEST, leads=False)) for one in found.errors),
    )
    lines = [_candidate(material, batch, outcomes) for batch, _ in zip(batches(marked), range(_LINES), strict=False)]
    return Choice("files", "Files and commands", lines)


def _folder(material: Material) -> str | None:
    """Where the work is going to be; if nobody says so, where it was last."""
    known = (material.folders.get(artifact.session) for artifact in material.every())
    return material.folder or next((folder for folder in known if folder is not None), None)


def _bounded(material: Material) -> dict[str, Artifact]:
    """The newest outcomes, with so many commands that they are read in no time."""
    found: dict[str, Artifact] = {}
    commands = 0
    newest = sorted(material.every(), key=lambda artifact: (-(artifact.at or 0), artifact.id))
    for artifact in newest:
        if isinstance(artifact.content, Outcome):
            found[artifact.id] = artifact
            commands += len(artifact.content.commands)
            if commands > _COMMANDS:
                break
    return found


def _marked(worth: Worth) -> Worth:
    return worth._replace(text=quoted(worth.text, _LONGEST))


def _candidate(material: Material, batch: Batch, outcomes: Mapping[str, Artifact]) -> Candidate:
    ids = _sources(batch)
    is_other = all(material.is_other(outcomes[one]) for worth in batch.items for one in worth.ids[:1])
    why = "; ".join(f"{quoted(worth.text, 60)}: {worth.why}" for worth in batch.items)
    return Candidate(
        ids=ids,
        forms=tuple(spelled(batch, count) for count in range(len(batch.items), 0, -1)),
        why=why,
        session=outcomes[ids[0]].session if is_other else None,
    )


def _sources(batch: Batch) -> tuple[str, ...]:
    """The outcomes that tell of the most on a line: one, and another for what that one does not have."""
    left = list(batch.items)
    chosen: list[str] = []
    while left and len(chosen) < _IDS:
        counts = Counter(one for worth in left for one in worth.ids)
        best = min(counts, key=lambda one: (-counts[one], one))
        chosen.append(best)
        left = [worth for worth in left if best not in worth.ids]
    return tuple(chosen)
