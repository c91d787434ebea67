"""`Recall`: what is asked of the memory, answered as far as the trace goes, within bounds and without secrets.

What answers one kind of question is loaded when it is first asked: a command asks one, and an agent waits for it.
"""

import importlib
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from blackbird import usage
from blackbird.artifacts.model import Type
from blackbird.config.resolve import Config
from blackbird.errors import MemoryBusy, MemoryDamaged, NotFound
from blackbird.home import Home
from blackbird.recall import bounds, freshness
from blackbird.recall.egress import Egress
from blackbird.recall.model import Piece, Whole
from blackbird.recall.whose import Whose
from blackbird.retrieve.model import Asked, Found, Neighbour, Scope
from blackbird.store.memory import Memory, Reader, Stored
from blackbird.tokens import Counter, counter
from blackbird.usage import Use
from blackbox.errors import UsageError, WriteError

if TYPE_CHECKING:
    from blackbird.derive import Report
    from blackbird.pack.model import Caps, Pack

_Answer = TypeVar("_Answer")
Tell = Callable[[int, int], None]
#: What the contract with an agent grants to one run; more is not refused, but counted.
_GRANTED = {"search": 1, "get": 2}
_MOST_CARDS = 100


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
    ) -> None:
        """`own` is where the asker works: what is meant if nothing is said. `tell` hears how far a derivation is."""
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
        #: What the last derivation came to, if there was one.
        self.report: Report | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the memory."""
        with self._lock:
            self._reader.close()

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
        """The best cards for some words. Without a session that of the asker is meant, or, if it has none, all."""
        many = k if k is not None else int(self._config["retrieval.k_default"])
        if not 1 <= many <= _MOST_CARDS:
            raise UsageError(f"{many} cards cannot be asked for", f"ask for 1 to {_MOST_CARDS}")
        began = time.perf_counter()
        searching = importlib.import_module("blackbird.retrieve.search")

        def found(memory: Memory) -> Found:
            asked = Asked(
                text=text,
                scope=self._scope(memory, session, task, everywhere=everywhere),
                k=many,
                max_snippet_tokens=int(self._config["retrieval.max_snippet_tokens"]),
                types=tuple(types),
            )
            answer: Found = searching.search(memory, asked, self._counter)
            return answer

        with self._lock:
            answer = self.ask(found)
            scope = answer.asked.scope
            told = {"tokens": answer.tokens, "found": len(answer.cards)}
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
                proofs=self._trace("proofs", stored) if proved else (),
                tokens=bounds.size(artifact, self._counter),
                cut=cut,
            )
            self._note("get", began, session=artifact.session, task=artifact.task, tokens=answer.tokens, found=1)
        return answer

    def related(self, identifier: str, k: int | None = None) -> list[Neighbour]:
        """What has to do with an artifact, the nearest first."""
        began = time.perf_counter()
        neighbours = importlib.import_module("blackbird.retrieve.neighbours")
        many = k if k is not None else int(self._config["retrieval.k_default"])
        with self._lock:
            answer: list[Neighbour] = self.ask(
                lambda memory: neighbours.related(memory, _whole(memory, identifier), many, self._counter)
            )
            self._note("related", began, tokens=bounds.size(answer, self._counter), found=len(answer))
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
        began = time.perf_counter()
        building = importlib.import_module("blackbird.pack.building")
        model = importlib.import_module("blackbird.pack.model")

        def built(memory: Memory) -> "Pack":
            wanted = model.Wanted(
                session=self._named(memory, session) if session is not None else self._own.session,
                task=task if task is not None or session is not None else self._own.task,
                description=description,
                folder=folder,
                caps=self._caps(budget),
            )
            pack: Pack = building.build(memory, wanted, self._counter)
            return pack

        with self._lock:
            answer = self.ask(built)
            sections = {section.name: section.tokens for section in answer.sections}
            told = {"tokens": answer.tokens, "sections": sections}
            self._note("context", began, session=answer.session, task=answer.task, **told)
        return answer

    def evidence(self, identifier: str) -> list[Piece]:
        """The very bytes that an artifact comes from, and whether they are what was written."""
        began = time.perf_counter()
        with self._lock:
            stored = self._answer(lambda memory: _whole(memory, identifier))
            answer = [self._without_secrets(piece) for piece in self._trace("pieces", stored)]
            artifact = stored.artifact
            self._note("evidence", began, session=artifact.session, task=artifact.task, found=len(answer))
        return answer

    def _trace(self, what: str, stored: Stored) -> Any:
        folders = importlib.import_module("blackbird.trace.folder")
        pieces = importlib.import_module("blackbird.recall.pieces")
        return getattr(pieces, what)(folders.Trace(self._home.trace), stored.artifact)

    def _without_secrets(self, piece: Piece) -> Piece:
        cleaned: Piece = self._egress.clean(piece)
        if piece.data is None:
            return cleaned
        data, masked = self._egress.data(piece.data)
        return cleaned.with_data(data, masked)

    def _answer(self, question: Callable[[Memory], _Answer]) -> _Answer:
        """The answer of the memory, brought up to the trace first, and made anew if it turns out to be damaged."""
        try:
            self._catch_up()
            return question(self._memory())
        except MemoryDamaged:
            derive = importlib.import_module("blackbird.derive")
            self.report = derive.rebuild(self._home, self._tell)
            return question(self._memory())

    def _catch_up(self) -> None:
        """Take in what is new. If another process is at it, or nothing can be written, what is there has to do."""
        memory = self._reader.memory
        if memory is not None and freshness.is_up_to_date(memory, self._home):
            return
        derive = importlib.import_module("blackbird.derive")
        try:
            self.report = derive.catch_up(self._home, self._tell)
        except (MemoryBusy, WriteError):
            if memory is None:
                raise

    def _memory(self) -> Memory:
        memory = self._reader.memory
        if memory is None:
            choice = importlib.import_module("blackbird.sessions.choice")
            raise NotFound("there is no memory yet", choice.NOTHING_YET)
        return memory

    def _scope(self, memory: Memory, session: str | None, task: str | None, *, everywhere: bool) -> Scope:
        if session is not None:
            name: str | None = self._named(memory, session)
        else:
            name, task = self._own.session, task if task is not None else self._own.task
        project = _project(memory, name) if everywhere and name is not None else ()
        return Scope(session=name, task=task, project=project, only=name is not None and not everywhere)

    def _named(self, memory: Memory, name: str) -> str:
        """What the memory calls a session. Its own names are known to it; others need the census."""
        if name in memory.sessions():
            return name
        named: str = importlib.import_module("blackbird.derive").session_named(memory, name)
        return named

    def _caps(self, budget: int | None) -> "Caps":
        model = importlib.import_module("blackbird.pack.model")
        asked = {name: self._config[f"context.{name}_tokens"] for name in _CAPS}
        total = budget if budget is not None else self._config["context.budget_tokens"]
        caps: Caps = model.Caps(total=total, **asked)
        return caps

    def _note(self, op: str, began: float, **told: Any) -> None:
        asked = (self._own.run, op)
        self._asked[asked] = self._asked.get(asked, 0) + 1
        beyond = self._own.run is not None and self._asked[asked] > _GRANTED.get(op, self._asked[asked])
        use = Use(
            at=time.time_ns(),
            door=self._door,
            op=op,
            ms=round((time.perf_counter() - began) * 1000, 3),
            run=self._own.run,
            beyond=beyond,
            **told,
        )
        usage.note(self._home, use)


_CAPS = ("decisions", "constraints", "implemented", "open_threads", "pointers")


def _whole(memory: Memory, identifier: str) -> Stored:
    stored: Stored = importlib.import_module("blackbird.retrieve.lookup").whole(memory, identifier)
    return stored


def _project(memory: Memory, session: str) -> tuple[str, ...]:
    """The other sessions of the project that a session is of."""
    notes = memory.notes()
    own = notes.get(session)
    if own is None:
        return ()
    return tuple(name for name, note in notes.items() if name != session and own.is_project_of(note))
