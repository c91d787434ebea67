"""What a pack may draw upon, asked of the memory within bounds: its session, and the last of the same project."""

import hashlib
from collections.abc import Mapping, Sequence

import msgspec

from blackbird.artifacts.model import Artifact, Outcome, Status, Summary, Type
from blackbird.artifacts.note import SESSIONS, Note, of_project
from blackbird.pack import relevance
from blackbird.pack.material import Material
from blackbird.pack.model import Wanted
from blackbird.store.memory import Memory

#: At how many other sessions of the project is looked for more than what they did.
NEAR = 24
#: How many artifacts of each type: of the session itself, of each other one, and of those before them.
_OWN = {
    Type.OUTCOME: 80,
    Type.DECISION: 160,
    Type.CONSTRAINT: 120,
    Type.THREAD: 120,
    Type.FACT: 40,
    Type.SUMMARY: 1,
}
_OTHERS = {
    Type.OUTCOME: 6,
    Type.DECISION: 8,
    Type.CONSTRAINT: 6,
    Type.THREAD: 6,
    Type.FACT: 12,
    Type.SUMMARY: 1,
}
_OLDER = {Type.OUTCOME: 2}
_DIGEST_BYTES = 16


def material(memory: Memory, wanted: Wanted) -> Material:
    """All that a pack may draw upon, as it is at one moment."""
    with memory.at_once():
        return _material(memory, wanted)


def _material(memory: Memory, wanted: Wanted) -> Material:
    notes = memory.notes()
    note = notes.get(wanted.session) if wanted.session is not None else None
    others = neighbours(notes, wanted)
    bounds = [_OTHERS] * NEAR + [_OLDER] * (SESSIONS - NEAR)
    return Material(
        wanted=wanted,
        ahead=relevance.task(wanted.description, wanted.task),
        note=note,
        own=_of(memory, wanted.session, _OWN) if wanted.session is not None else (),
        others=tuple(_of(memory, session, most) for session, most in zip(others, bounds, strict=False)),
        folders={session: notes[session].folder for session in (wanted.session, *others) if session in notes},
        folder=_folder(note, wanted),
        state=_state(memory, [wanted.session or "", *others]),
        builder=memory.builder or "",
    )


def completed(memory: Memory, wanted: Wanted) -> Wanted:
    """What was asked for, with what the plans say: whose task it is, and what it is about."""
    if wanted.task is None or (wanted.session is not None and wanted.description is not None):
        return wanted
    notes = memory.notes()
    session = wanted.session or _session_of(memory, notes, wanted)
    note = notes.get(session or "")
    planned = next((task for task in note.plan if task.id == wanted.task), None) if note is not None else None
    words = (planned.title, planned.description) if planned is not None else ()
    description = wanted.description or " ".join(word for word in words if word) or None
    return msgspec.structs.replace(wanted, session=session, description=description)


def _session_of(memory: Memory, notes: Mapping[str, Note], wanted: Wanted) -> str | None:
    """The newest session of the project that has such a task, by its plan or by what ran; else of all."""
    task, own = wanted.task, Note(session="", folder=wanted.folder, root=wanted.root)
    here = {name: note for name, note in notes.items() if own.is_project_of(note)}
    notes = here or notes
    found = {name for name, note in notes.items() if any(each.id == task for each in note.plan)}
    found |= {stored.artifact.session for stored in memory.find(task=task, kind=Type.OUTCOME)}
    newest = sorted(found & notes.keys(), key=lambda name: (notes[name].ended or notes[name].began or 0, name))
    return newest[-1] if newest else None


def _folder(note: Note | None, wanted: Wanted) -> str | None:
    """Where the task will be worked on: as was asked, unless its session is known to be of another project."""
    if note is None or note.folder is None:
        return wanted.folder
    asked = Note(session=note.session, folder=wanted.folder, root=wanted.root)
    return wanted.folder if asked.is_project_of(note) else note.folder


def state(memory: Memory, wanted: Wanted) -> str:
    """A digest of all that a pack may draw upon: as long as it is the same, so is the pack."""
    return _state(memory, [wanted.session or "", *neighbours(memory.notes(), wanted)])


def _state(memory: Memory, sessions: Sequence[str]) -> str:
    kept = memory.digests(sessions)
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for session in sessions:
        digest.update(session.encode("utf-8", "surrogatepass") + b"\0" + kept.get(session, b""))
    return digest.hexdigest()


def neighbours(notes: Mapping[str, Note], wanted: Wanted) -> list[str]:
    """The other sessions of the same project, the newest first."""
    own = notes.get(wanted.session) if wanted.session is not None else None
    if own is None or (own.folder is None and own.repository is None):
        own = Note(session=wanted.session or "", folder=wanted.folder, root=wanted.root)
    return of_project(own, notes.values())


def _of(memory: Memory, session: str, bounds: Mapping[Type, int]) -> tuple[Artifact, ...]:
    found = (stored.artifact for stored in memory.newest(session, bounds))
    return tuple(artifact for artifact in found if tells_anything(artifact))


def tells_anything(artifact: Artifact) -> bool:
    """Whether there is more to it than that it began: a task that is about to start has an outcome, too."""
    content = artifact.content
    if isinstance(content, Outcome):
        known = (content.bullets, content.files, content.read, content.commands, content.errors, content.final)
        return content.status is not Status.UNKNOWN or any(known)
    if isinstance(content, Summary):
        return any((content.goal, content.checkpoint, content.bullets, content.tasks))
    return True
