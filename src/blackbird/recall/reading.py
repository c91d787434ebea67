"""`Recall`: what is asked of the memory, answered as far as the trace goes, within bounds and without secrets.

What answers one kind of question is loaded when it is first asked: a command asks one, and an agent waits for it.
"""

import threading
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import msgspec

from blackbird import usage
from blackbird.artifacts.model import Type
from blackbird.artifacts.note import Note, of_project
from blackbird.artifacts.proof import Proof
from blackbird.config.resolve import Config
from blackbird.errors import MemoryDamaged, NotFound
from blackbird.home import Home
from blackbird.recall import bounds, view
from blackbird.recall.egress import Egress
from blackbird.recall.freshness import Freshness, Tell
from blackbird.recall.model import Piece, Whole
from blackbird.recall.whose import Whose
from blackbird.retrieve.model import Asked, Card, Found, Neighbour, Scope
from blackbird.store.memory import Memory, Reader, Stored
from blackbird.tokens import Counter, counter
from blackbird.usage import Use
from blackbox.errors import UsageError

if TYPE_CHECKING:
    from blackbird.derive import Report
    from blackbird.pack.model import Pack, Wanted

_Answer = TypeVar("_Answer")
#: What the contract with an agent grants to one run; more is not refused, but counted.
GRANTED = {"search": 1, "get": 2}
_MOST_CARDS = 100
#: What a repository has at its root: a folder, or a file in a second work tree of it.
_REPOSITORY = ".git"


class Recall:
    """The memory of a home, as one door asks it. Several threads may; one is answered at a time."""

    def __init__(
        self,
        home: Home,
        config: Config,
        *,
        door: str,
        own: Whose | None = None,
        tell: Tell | None = None,
        patience: float | None = None,
    ) -> None:
        """`own` is where the asker works: what is meant if nothing is said.

        `tell` hears how far a derivation is. After `patience` seconds it goes on aside, and what is there has to do.
        """
        self._home = home
        self._config = config
        self._door = door
        self._own = own or Whose()
        self._tell = tell
        self._lock = threading.RLock()
        self._reader = Reader(home.derived)
        self._egress = Egress(config)
        self._counter: Counter = counter()
        self._asked: dict[tuple[str | None, str], int] = {}
        self._freshness = Freshness(home, tell, patience)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the memory."""
        with self._lock:
            self._freshness.wait()
            self._reader.close()

    @property
    def report(self) -> "Report | None":
        """What the last derivation came to, if there was one."""
        return self._freshness.report

    def ask(self, question: Callable[[Memory], _Answer]) -> _Answer:
        """What a question of one's own comes to, without secrets. Raises `NotFound` if there is no memory."""
        with self._lock:
            return self._egress.clean(self._answer(question))

    def search(
        self,
        text: str,
        *,
        session: str | None = None,
        task: str | None = None,
        k: int | None = None,
        types: Sequence[Type] = (),
        everywhere: bool = False,
    ) -> Found:
        """The best cards for some words.

        Without a session that of the asker is meant, or with a task the last one that has it; if nothing is known of
        it yet, the project of the folder in which the asker works, and all sessions if that is unknown, too. What is
        of the task goes first.
        """
        from blackbird.retrieve import search as searching  # noqa: PLC0415 - see above

        many = self._many(k)
        began = time.perf_counter()

        def found(memory: Memory) -> tuple[Found, list[Stored | None]]:
            asked = Asked(
                text=text,
                scope=self._scope(memory, session, task, everywhere=everywhere),
                k=many,
                max_snippet_tokens=self._snippet,
                types=tuple(types),
            )
            answer = searching.search(memory, asked, self._counter)
            return answer, [memory.get(card.id) for card in answer.cards]

        with self._lock:
            raw, stored = self._answer(found)
            answer, cleaned = self._egress.clean((raw, stored))
            cards = self._tight(answer.cards, stored, cleaned)
            answer = msgspec.structs.replace(answer, cards=tuple(cards), tokens=self._size(cards))
            scope = answer.asked.scope
            told = {"tokens": answer.tokens, "found": len(cards)}
            self._note("search", began, session=scope.session, task=scope.task, **told)
        return answer

    def get(self, identifier: str, *, proved: bool = False, most: int | None = bounds.MOST_TOKENS) -> Whole:
        """One artifact by its id or the start of it, within so many tokens.

        `proved`: with its quotes looked up in the trace.
        """
        began = time.perf_counter()
        with self._lock:
            stored = self._answer(lambda memory: _whole(memory, identifier))
            artifact, cut = bounds.bounded(self._egress.clean(stored.artifact), self._counter, most)
            answer = Whole(
                artifact=artifact,
                is_expired=stored.is_expired,
                proofs=self._proofs(stored) if proved else (),
                tokens=bounds.size(artifact, self._counter),
                cut=cut,
            )
            self._note("get", began, session=artifact.session, task=artifact.task, tokens=answer.tokens, found=1)
        return answer

    def related(self, identifier: str, k: int | None = None) -> list[Neighbour]:
        """What has to do with an artifact, the nearest first."""
        from blackbird.retrieve import neighbours  # noqa: PLC0415 - see above

        many = self._many(k)
        began = time.perf_counter()

        def found(memory: Memory) -> tuple[list[Neighbour], list[Stored | None]]:
            own = _whole(memory, identifier)
            # Names of files and tasks are alike in projects that have nothing to do with each other.
            session = own.artifact.session
            among = {session, *_project(memory, session)}
            near = neighbours.related(memory, own, many, self._counter, among, max_snippet_tokens=self._snippet)
            return near, [memory.get(each.card.id) for each in near]

        with self._lock:
            raw, stored = self._answer(found)
            near, cleaned = self._egress.clean((raw, stored))
            cards = self._tight([each.card for each in near], stored, cleaned)
            answer = [msgspec.structs.replace(each, card=card) for each, card in zip(near, cards, strict=True)]
            self._note("related", began, tokens=self._size(cards), found=len(answer))
        return answer

    def context(
        self,
        *,
        session: str | None = None,
        task: str | None = None,
        description: str | None = None,
        folder: str | None = None,
        budget: int | None = None,
    ) -> "Pack":
        """What a task should know of those before it. A session that nothing is known of yet is no mistake here."""
        from blackbird.pack import limits, reading  # noqa: PLC0415 - see above
        from blackbird.pack.model import Wanted  # noqa: PLC0415

        began = time.perf_counter()

        def found(memory: Memory) -> tuple["Pack", bool]:
            is_own = session is None
            wanted = Wanted(
                session=self._own.session if session is None else self._known(memory, session),
                task=self._own.task if task is None and is_own else task,
                description=description,
                folder=folder,
                root=_root(folder) if folder is not None else None,
                caps=limits.caps(self._config, budget),
            )
            return self._kept_pack(memory, reading.completed(memory, wanted))

        with self._lock:
            answer, is_kept = self._answer(found)
            sections = {section.name: section.tokens for section in answer.sections}
            told = {"tokens": answer.tokens, "sections": sections, "cached": is_kept}
            self._note("context", began, session=answer.session, task=answer.task, **told)
        return answer

    def knows(self, session: str) -> bool:
        """Whether anything is known of a session of this name."""
        with self._lock:
            try:
                self._answer(lambda memory: _named(memory, session))
            except NotFound:
                return False
        return True

    def evidence(self, identifier: str) -> list[Piece]:
        """The very bytes that an artifact comes from, and whether they are what was written."""
        from blackbird.recall import pieces  # noqa: PLC0415 - see above

        began = time.perf_counter()
        with self._lock:
            stored = self._answer(lambda memory: _whole(memory, identifier))
            artifact = stored.artifact
            answer = [self._without_secrets(each) for each in pieces.pieces(self._home.trace, artifact)]
            self._note("evidence", began, session=artifact.session, task=artifact.task, found=len(answer))
        return answer

    def _many(self, k: int | None) -> int:
        many = k if k is not None else int(self._config["retrieval.k_default"])
        if not 1 <= many <= _MOST_CARDS:
            raise UsageError(f"{many} cards cannot be asked for", f"ask for 1 to {_MOST_CARDS}")
        return many

    def _size(self, cards: Sequence[Card]) -> int:
        """How many tokens cards are as programs get them."""
        return sum(bounds.size(view.describe_card(card), self._counter) for card in cards)

    @property
    def _snippet(self) -> int:
        return int(self._config["retrieval.max_snippet_tokens"])

    def _tight(
        self, cards: Sequence[Card], stored: Sequence[Stored | None], cleaned: Sequence[Stored | None]
    ) -> list[Card]:
        """Cards, made anew where there is a secret in the artifact: half of one in a snippet, no rule would know."""
        from blackbird.retrieve.cards import card  # noqa: PLC0415 - see above

        return [
            given
            if after is None or after is before
            else card(after, self._counter, self._snippet, score=given.score, same=given.same)
            for given, before, after in zip(cards, stored, cleaned, strict=True)
        ]

    def _kept_pack(self, memory: Memory, wanted: "Wanted") -> tuple["Pack", bool]:
        """A pack that was made before, by the same rules of redaction, or a new one; and which of both it is."""
        from blackbird.pack import cache, limits  # noqa: PLC0415 - see above

        counting = limits.counter(self._config)
        folder = self._home.derived / cache.FOLDER
        return cache.kept_or_built(
            folder,
            memory,
            wanted,
            counting,
            lambda: self._egress.clean(self._pack(memory, wanted, counting)),
            rules=self._egress.name,
        )

    def _pack(self, memory: Memory, wanted: "Wanted", counting: Counter) -> "Pack":
        """A pack, made anew if there is a secret in what it is made of: lines are cut, as snippets are."""
        from blackbird.pack import building, reading  # noqa: PLC0415 - see above

        material = reading.material(memory, wanted)
        pack = building.compose(material, counting)
        told = {identifier for section in pack.sections for line in section.lines for identifier in line.ids}
        used = tuple(artifact for artifact in material.every() if artifact.id in told)
        if self._egress.clean(used) is used:
            return pack
        return building.compose(self._egress.clean(material), counting)

    def _proofs(self, stored: Stored) -> tuple[Proof, ...]:
        from blackbird.recall import pieces  # noqa: PLC0415 - see above

        return pieces.proofs(self._home.trace, stored.artifact)

    def _without_secrets(self, piece: Piece) -> Piece:
        cleaned = self._egress.clean(piece)
        if piece.data is None:
            return cleaned
        data, masked = self._egress.data(piece.data)
        return msgspec.structs.replace(cleaned, data=data, masked=masked)

    def _answer(self, question: Callable[[Memory], _Answer]) -> _Answer:
        """The answer of the memory, brought up to the trace first, and made anew if it turns out to be damaged."""
        try:
            self._freshness.bring(self._reader.memory)
            return question(self._memory())
        except MemoryDamaged:
            self._freshness.rebuild()
            return question(self._memory())

    def _memory(self) -> Memory:
        memory = self._reader.memory
        if memory is None:
            from blackbird.sessions.choice import NOTHING_YET  # noqa: PLC0415 - see above

            raise NotFound("there is no memory yet", NOTHING_YET)
        return memory

    def _scope(self, memory: Memory, session: str | None, task: str | None, *, everywhere: bool) -> Scope:
        if session is not None:
            name: str | None = (given := _named(memory, session))
            project = _project(memory, given) if everywhere else ()
        else:
            here = _project_at(memory, self._own.folder) if self._own.folder is not None else ()
            name = self._own.session if task is None else _with_task(memory, task, self._own.session, here)
            task = task if task is not None else self._own.task
            if self._own.folder is not None and not _has(memory, name):
                return Scope(task=task, project=here, only=bool(here) and not everywhere)
            # Whoever works in a session that has just begun asks for what those before it knew.
            project = _project(memory, name) if name is not None else ()
        return Scope(session=name, task=task, project=project, only=not everywhere and name is not None)

    def _known(self, memory: Memory, session: str) -> str:
        """What the memory calls a session; one that is about to begin is called as it was given."""
        try:
            return _named(memory, session)
        except NotFound:
            return session

    def _note(self, op: str, began: float, **told: Any) -> None:
        asked = (self._own.run, op)
        self._asked[asked] = self._asked.get(asked, 0) + 1
        beyond = self._own.run is not None and self._asked[asked] > GRANTED.get(op, self._asked[asked])
        use = Use(
            at=time.time_ns(),
            door=self._door,
            op=op,
            ms=round((time.perf_counter() - began) * 1000, 3),
            run=self._egress.clean(self._own.run),
            beyond=beyond,
            **told,
        )
        usage.note(self._home, use)


def _whole(memory: Memory, identifier: str) -> Stored:
    from blackbird.retrieve import lookup  # noqa: PLC0415 - see above

    return lookup.whole(memory, identifier)


def _named(memory: Memory, name: str) -> str:
    """What the memory calls a session. Its own names are known to it; others need the census."""
    if memory.has_session(name):
        return name
    from blackbird import derive  # noqa: PLC0415 - see above

    return derive.session_named(memory, name)


def _has(memory: Memory, session: str | None) -> bool:
    return session is not None and memory.has_session(session)


def _with_task(memory: Memory, task: str, own: str | None, here: Collection[str]) -> str | None:
    """The session that a task is of: one's own, else the last one of the project that has it.

    One's own, too, if no session of the project has it; of all sessions, only if no project is known.
    """
    having = memory.sessions_with(task)
    if own in having or not having:
        return own
    return next((session for session in having if session in here), own if here else having[0])


def _project_at(memory: Memory, folder: str) -> tuple[str, ...]:
    """The sessions of the project that a folder is of."""
    here = Note(session="", folder=folder, root=_root(folder))
    return tuple(of_project(here, memory.notes().values()))


def _root(folder: str) -> str | None:
    """The folder that the repository begins at in which a folder lies, if it lies in one."""
    path = Path(folder)
    return next((str(each) for each in (path, *path.parents) if (each / _REPOSITORY).exists()), None)


def _project(memory: Memory, session: str) -> tuple[str, ...]:
    """The other sessions of the project that a session is of."""
    notes = memory.notes()
    own = notes.get(session)
    return tuple(of_project(own, notes.values())) if own is not None else ()
