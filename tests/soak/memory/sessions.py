"""Sessions in versions: all artifacts of a session say the same number, so that half of one would be seen."""

from blackbird.artifacts.model import (
    Artifact,
    Change,
    Content,
    Decision,
    Outcome,
    Provenance,
    Segment,
    Signal,
    Speaker,
    Status,
    Type,
    artifact_id,
)
from blackbird.artifacts.note import Note
from blackbird.canon.model import Evidence, Side

ARTIFACTS = 24
#: How many of them are new in each version, and how many are gone.
_FRESH = 4
_SECOND = 1_000_000_000


def name(number: int) -> str:
    """What a session is called."""
    return f"session-{number}"


def note(session: str) -> Note:
    """What is kept of a session besides; all are of one project."""
    return Note(session=session, folder="/home/dev/crane", root="/home/dev/crane", began=1, ended=_SECOND)


def artifacts(session: str, version: int) -> list[Artifact]:
    """A session in a version."""
    return [_artifact(session, version, at) for at in range(ARTIFACTS)]


def version_of(artifact: Artifact) -> int:
    """The version that an artifact says that it is of."""
    return int(artifact.title.rpartition(" ")[2])


def _artifact(session: str, version: int, at: int) -> Artifact:
    key = f"{version}/{at}" if at < _FRESH else str(at)
    title = f"harbour piece {at} of {session} in version {version}"
    content = _content(title, at)
    kind = {Segment: Type.SEGMENT, Decision: Type.DECISION, Outcome: Type.OUTCOME}[type(content)]
    evidence = Evidence(source="req_1", side=Side.REQUEST, start=0, end=4, segment=1, sequence=version)
    return Artifact(
        id=artifact_id(kind, session, key),
        type=kind,
        session=session,
        task=f"{session}-task",
        title=title,
        content=content,
        provenance=(Provenance(item=f"it_{at}", evidence=evidence),),
        builder="1",
        at=at * _SECOND,
    )


def _content(text: str, at: int) -> Content:
    match at % 3:
        case 0:
            return Segment(speaker="user", text=f"{text}, see src/harbour/crane_{at}.py", position=at)
        case 1:
            return Decision(statement=text, by=Speaker.USER, signal=Signal.IMPERATIVE)
        case _:
            files = (Change(path=f"src/harbour/crane_{at}.py", symbols=("lift_crane",)),)
            return Outcome(status=Status.SUCCESS, description=text, bullets=(text,), files=files)
