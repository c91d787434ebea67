"""Made-up memories of any size: sessions as agents leave them behind, the same artifacts for the same number.

Words follow Zipf's law behind the common words of English, and each session comes back to some of its own, so that a
query meets rare words and frequent ones as it does in real text; projects have files and symbols of their own.
"""

import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

from blackbird.artifacts.model import (
    Artifact,
    Change,
    Command,
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
from blackbird.artifacts.note import Note
from blackbird.canon.model import Evidence, Side

PROJECTS, FILES_OF_A_PROJECT, SYMBOLS_OF_A_PROJECT = 120, 150, 300
ARTIFACTS_OF_A_SESSION = 300
_TASKS = 4
_VOCABULARY = 60_000
_BEGIN, _HOUR, _SECOND = 1_780_000_000_000_000_000, 3_600_000_000_000, 1_000_000_000
_COMMON = (  # noqa: SIM905 - a sentence reads better than a list
    "the to a of and in is that it for on this with be as we not i you so are by from at or if now then can will has "
    "was all but there when which what do one should test file run use make fix error code function change line"
).split()
_ENDINGS = ("py", "rs", "ts", "go", "md", "toml")
_FOLDERS = ("src", "tests", "docs", "lib", "internal", "pkg", "app", "core", "api", "web")
#: Of each type, how many of a hundred; what is missing are pieces of the conversation.
_MIX: dict[Type, int] = {
    Type.OUTCOME: 3,
    Type.DECISION: 6,
    Type.CONSTRAINT: 4,
    Type.THREAD: 6,
    Type.FACT: 3,
}
_BUILDER = "bench"


class Language:
    """A vocabulary, and texts of it."""

    def __init__(self, size: int = _VOCABULARY) -> None:
        rng = random.Random(7)
        made = (_word(rng) for _ in itertools.count())
        self.words = [*_COMMON, *itertools.islice(_distinct(made), size)]
        self._weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(self.words))))

    def say(self, rng: random.Random, count: int) -> list[str]:
        """So many words."""
        return rng.choices(self.words, cum_weights=self._weights, k=count)

    def rare(self, rng: random.Random) -> str:
        """A word that is in few texts."""
        return self.words[rng.randrange(2_000, len(self.words))]


class Project:
    """A repository: where it lies, and what its files and symbols are called."""

    def __init__(self, number: int, language: Language) -> None:
        rng = random.Random(f"project {number}")
        self.name = f"{language.rare(rng)}-{number}"
        self.root = f"/home/dev/{self.name}"
        self.files = [_path(rng, language) for _ in range(FILES_OF_A_PROJECT)]
        self.symbols = [_symbol(rng, language) for _ in range(SYMBOLS_OF_A_PROJECT)]


class World:
    """All that sessions are made from."""

    def __init__(self) -> None:
        self.language = Language()
        self.projects = [Project(number, self.language) for number in range(PROJECTS)]

    def session(self, number: int, builder: str = _BUILDER) -> tuple[Note, list[Artifact]]:
        """A session with its artifacts, whichever were asked for before."""
        return _Session(self, number, builder).told()

    def sessions(self, artifacts: int, builder: str = _BUILDER) -> Iterator[tuple[Note, list[Artifact]]]:
        """Sessions with so many artifacts in all."""
        for number in range(-(-artifacts // ARTIFACTS_OF_A_SESSION)):
            note, found = self.session(number, builder)
            yield note, found[: artifacts - number * ARTIFACTS_OF_A_SESSION]


class _Session:
    def __init__(self, world: World, number: int, builder: str) -> None:
        self._language, self._builder = world.language, builder
        self._rng = random.Random(f"session {number}")
        self._project = world.projects[self._rng.randrange(PROJECTS)]
        self._name = f"ses_{number:06}"
        self._began = _BEGIN + number * _HOUR
        self._number = number
        #: A session works on some of the files, and comes back to them.
        self._files = self._rng.sample(self._project.files, 12)
        self._symbols = self._rng.sample(self._project.symbols, 20)
        self._topics = [world.language.rare(self._rng) for _ in range(40)]
        self._last: dict[Type, str] = {}

    def told(self) -> tuple[Note, list[Artifact]]:
        kinds = self._rng.choices(
            [*_MIX, Type.SEGMENT], [*_MIX.values(), 100 - sum(_MIX.values())], k=ARTIFACTS_OF_A_SESSION - 1
        )
        artifacts = [self._made(at, kind) for at, kind in enumerate([Type.SUMMARY, *kinds])]
        project = self._project
        note = Note(
            session=self._name,
            goal=self._text(10),
            title=self._text(6),
            client="bench",
            folder=project.root,
            root=project.root,
            repository=f"https://example.com/{project.name}.git",
            began=self._began,
            ended=self._began + ARTIFACTS_OF_A_SESSION * _SECOND,
        )
        return note, artifacts

    def _made(self, at: int, kind: Type) -> Artifact:
        identifier = artifact_id(kind, self._name, str(at))
        content = self._content(kind, at)
        task = at * _TASKS // ARTIFACTS_OF_A_SESSION
        start = at * 400
        evidence = Evidence(
            source=f"req_{self._number:06}{at:04}",
            side=Side.RESPONSE,
            start=start,
            end=start + 380,
            segment=self._number // 50 + 1,
            sequence=self._number * ARTIFACTS_OF_A_SESSION + at,
        )
        artifact = Artifact(
            id=identifier,
            type=kind,
            session=self._name,
            task=f"tsk_{self._number:06}_{task}",
            run=f"run_{self._number:06}_{task}",
            title=_title(content),
            content=content,
            provenance=(Provenance(item=f"it_{at}", evidence=evidence, quote=_title(content)[:80]),),
            builder=self._builder,
            at=self._began + at * _SECOND,
        )
        self._last[kind] = identifier
        return artifact

    def _content(self, kind: Type, at: int) -> Content:
        makers: dict[Type, Callable[[int], Content]] = {
            Type.SEGMENT: self._segment,
            Type.DECISION: self._decision,
            Type.CONSTRAINT: self._constraint,
            Type.THREAD: self._thread,
            Type.OUTCOME: self._outcome,
            Type.FACT: self._fact,
            Type.SUMMARY: self._summary,
        }
        return makers[kind](at)

    def _text(self, count: int) -> str:
        own = count // 4
        words = [*self._language.say(self._rng, count - own), *self._rng.choices(self._topics, k=own)]
        self._rng.shuffle(words)
        return " ".join(words).capitalize() + "."

    def _prose(self) -> str:
        """A few sentences, with a file or a symbol in most."""
        said = [self._text(self._rng.randint(6, 18)) for _ in range(self._rng.randint(1, 5))]
        if self._rng.random() < 0.7:
            said.append(f"See {self._rng.choice(self._files)}.")
        if self._rng.random() < 0.5:
            said.append(f"`{self._rng.choice(self._symbols)}` {self._text(5)}")
        if self._rng.random() < 0.05:
            said.append(self._error())
        return " ".join(said)

    def _error(self) -> str:
        symbol = self._rng.choice(self._symbols)
        return f"TypeError: {symbol}() missing argument '{self._language.rare(self._rng)}'"

    def _segment(self, at: int) -> Content:
        paths = tuple(self._rng.sample(self._files, self._rng.randint(0, 2)))
        return Segment(speaker=self._rng.choice(("user", "agent")), text=self._prose(), position=at, paths=paths)

    def _decision(self, at: int) -> Content:
        return Decision(supersedes=self._last.get(Type.DECISION) if at % 10 == 0 else None, **self._ruling(at))

    def _constraint(self, at: int) -> Content:
        return Constraint(must=at % 2 == 0, reach=Reach.SESSION if at % 3 else Reach.TASK, **self._ruling(at))

    def _ruling(self, at: int) -> dict[str, Any]:
        return {
            "statement": f"{self._text(8)[:-1]} in {self._rng.choice(self._files)}",
            "by": self._rng.choice(list(Speaker)),
            "signal": self._rng.choice(list(Signal)),
            "rationale": self._text(8) if at % 3 == 0 else None,
            "subject": self._language.rare(self._rng),
            "holds_from": self._began + at * _SECOND,
        }

    def _thread(self, at: int) -> Content:
        return OpenThread(
            text=f"{self._text(9)[:-1]} {self._rng.choice(self._symbols)}",
            kind=self._rng.choice(list(ThreadKind)),
            state=self._rng.choice(list(ThreadState)),
            by=Speaker.AGENT,
            signal=Signal.PROSE,
            opened_at=self._began + at * _SECOND,
        )

    def _outcome(self, at: int) -> Content:
        files = self._rng.sample(self._files, 4)
        return Outcome(
            status=self._rng.choice(list(Status)),
            decided_by="the tests pass",
            description=self._text(12),
            bullets=tuple(self._text(9) for _ in range(3)),
            files=tuple(
                Change(path=path, added=at, removed=1, symbols=(self._rng.choice(self._symbols),)) for path in files
            ),
            read=tuple(self._rng.sample(self._files, 5)),
            commands=tuple(
                Command(line=f"python -m pytest -q {path}", kind="test", exit_code=0, ok=True) for path in files[:2]
            ),
            errors=(self._error(),) if at % 3 == 0 else (),
            final=self._text(25),
        )

    def _fact(self, at: int) -> Content:
        name = ("language", "layout", "test_command", "tool")[at % 4]
        return Fact(name=name, value=f"{self._language.rare(self._rng)} {at}", last_at=self._began)

    def _summary(self, _: int) -> Content:
        return Summary(goal=self._text(12), bullets=tuple(self._text(10) for _ in range(4)))


def _title(content: Content) -> str:
    match content:
        case Segment(text=text) | OpenThread(text=text):
            return text[:120]
        case Decision(statement=statement) | Constraint(statement=statement):
            return statement
        case Outcome(description=said):
            return said or ""
        case Fact(name=name, value=value):
            return f"{name}: {value}"
        case Summary(goal=goal):
            return goal or ""


def _word(rng: random.Random) -> str:
    pairs = (rng.choice("bcdfghjklmnprstvwz") + rng.choice("aeiou") for _ in range(rng.randint(1, 4)))
    return "".join(pairs) + rng.choice(("", "n", "r", "s", "t", "ing", "ed", "er"))


def _distinct(words: Iterator[str]) -> Iterator[str]:
    seen = set(_COMMON)
    for word in words:
        if word not in seen:
            seen.add(word)
            yield word


def _path(rng: random.Random, language: Language) -> str:
    folders = [rng.choice(_FOLDERS), *(language.rare(rng) for _ in range(rng.randint(0, 2)))]
    return f"{'/'.join(folders)}/{language.rare(rng)}_{language.rare(rng)}.{rng.choice(_ENDINGS)}"


def _symbol(rng: random.Random, language: Language) -> str:
    parts = [language.rare(rng) for _ in range(rng.randint(2, 3))]
    if rng.random() < 0.5:
        return "_".join(parts)
    return parts[0] + "".join(part.capitalize() for part in parts[1:])
