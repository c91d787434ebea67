"""Artifacts of every type, made by hand."""

from pathlib import Path

from blackbird.artifacts.model import (
    Artifact,
    Change,
    Constraint,
    Content,
    Decision,
    Fact,
    OpenThread,
    Outcome,
    Provenance,
    Reach,
    Segment,
    Signal,
    Speaker,
    Status,
    Summary,
    ThreadKind,
    ThreadState,
    Type,
    artifact_id,
)
from blackbird.canon.model import Evidence, Side
from blackbird.store import files
from blackbird.store.writing import Writing

EVIDENCE = Evidence(source="req_1", side=Side.REQUEST, start=0, end=4, segment=1, sequence=2)
DAY = 86_400 * 1_000_000_000
NOW = 1_790_000_000 * 1_000_000_000
TYPES = {
    Decision: Type.DECISION,
    Constraint: Type.CONSTRAINT,
    Outcome: Type.OUTCOME,
    OpenThread: Type.THREAD,
    Segment: Type.SEGMENT,
    Fact: Type.FACT,
    Summary: Type.SUMMARY,
}


def artifact(
    content: Content,
    *,
    key: str | None = None,
    title: str | None = None,
    session: str = "s1",
    task: str | None = None,
    run: str | None = "r1",
    at: int | None = NOW,
) -> Artifact:
    kind = TYPES[type(content)]
    words = title if title is not None else _words(content)
    return Artifact(
        id=artifact_id(kind, session, key or words),
        type=kind,
        session=session,
        task=task,
        run=run,
        title=words,
        content=content,
        provenance=(Provenance(item="it_1", evidence=EVIDENCE),),
        builder="1",
        at=at,
    )


def decision(statement: str, **more: object) -> Decision:
    return Decision(statement=statement, by=Speaker.USER, signal=Signal.IMPERATIVE, **more)  # type: ignore[arg-type]


def constraint(statement: str, **more: object) -> Constraint:
    return Constraint(
        statement=statement,
        by=Speaker.USER,
        signal=Signal.IMPERATIVE,
        must=True,
        reach=Reach.SESSION,
        **more,  # type: ignore[arg-type]
    )


def thread(text: str, state: ThreadState = ThreadState.OPEN) -> OpenThread:
    return OpenThread(text=text, kind=ThreadKind.TODO, state=state, by=Speaker.USER, signal=Signal.STRUCTURED)


def outcome(*bullets: str, files: tuple[Change, ...] = (), **more: object) -> Outcome:
    return Outcome(status=Status.SUCCESS, bullets=bullets, files=files, **more)  # type: ignore[arg-type]


def said(text: str, position: int = 0, speaker: str = "user", paths: tuple[str, ...] = ()) -> Segment:
    return Segment(speaker=speaker, text=text, position=position, paths=paths)


def talk(*texts: str, session: str = "s1", first: int = 0) -> list[Artifact]:
    """Pieces of a transcript that follow one another, a second each."""
    return [
        artifact(said(text, first + at), key=f"{first + at}", session=session, at=NOW + at * 1_000_000_000)
        for at, text in enumerate(texts)
    ]


def new_memory(folder: Path) -> Writing:
    with files.locked(folder):
        found = Writing.new(folder, "1", "T")
        files.put_in_place(folder, found.path)
        return found


def _words(content: Content) -> str:
    match content:
        case Decision(statement=words) | Constraint(statement=words):
            return words
        case OpenThread(text=words) | Segment(text=words):
            return words
        case Outcome(bullets=bullets) | Summary(bullets=bullets):
            return " ".join(bullets)
        case Fact(value=words):
            return words
