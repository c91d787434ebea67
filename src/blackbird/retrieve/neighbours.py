"""What an artifact has to do with others: what it replaced, its files, symbols, task, and what was said around it."""

from collections.abc import Callable, Collection, Iterator

from blackbird.artifacts.model import Artifact, Constraint, Decision, Outcome, Type
from blackbird.retrieve import ranking
from blackbird.retrieve.cards import card
from blackbird.retrieve.model import Neighbour
from blackbird.retrieve.weights import WEIGHTS
from blackbird.store.index import quoted
from blackbird.store.memory import Memory, Stored
from blackbird.store.texts import said, session_token, spelled, task_token
from blackbird.tokens import Counter

_SNIPPET_TOKENS = 60
#: Artifacts that are read for one relation, and files or symbols that are followed.
_MOST_READ = 60
_MOST_FOLLOWED = 6
_REACH = 2

_Related = Iterator[tuple[str, str, Stored]]


def related(
    memory: Memory,
    stored: Stored,
    k: int,
    counter: Counter,
    among: Collection[str] | None = None,
    *,
    max_snippet_tokens: int = _SNIPPET_TOKENS,
) -> list[Neighbour]:
    """The neighbours of an artifact among some sessions, or all; the closest first, each by what ties it most."""
    own = stored.artifact.id
    chosen: dict[str, tuple[str, str, Stored]] = {}
    with memory.at_once():
        for find in (_succession, _decisions, _files, _symbols, _task, _time):
            for relation, via, other in find(memory, stored.artifact):
                if other.artifact.id != own and (among is None or other.artifact.session in among):
                    chosen.setdefault(other.artifact.id, (relation, via, other))
            if len(chosen) >= k:
                break
    return [
        Neighbour(relation=relation, via=via, card=card(other, counter, max_snippet_tokens))
        for relation, via, other in list(chosen.values())[:k]
    ]


def _succession(memory: Memory, artifact: Artifact) -> _Related:
    content = artifact.content
    if not isinstance(content, Decision | Constraint):
        return
    overridden = content.overrides if isinstance(content, Constraint) else ()
    for relation, identifier in [
        ("superseded_by", content.superseded_by),
        ("supersedes", content.supersedes),
        *(("supersedes", each) for each in overridden),
    ]:
        other = memory.get(identifier) if identifier is not None else None
        if other is not None:
            yield relation, "", other


def _decisions(memory: Memory, artifact: Artifact) -> _Related:
    """The decisions that a change names, and the changes that name a decision."""
    if isinstance(artifact.content, Outcome):
        for change in artifact.content.files:
            other = memory.get(change.decision) if change.decision is not None else None
            if other is not None:
                yield "decision", change.path, other
    elif isinstance(artifact.content, Decision):
        for other in memory.find(session=artifact.session, kind=Type.OUTCOME):
            assert isinstance(other.artifact.content, Outcome)  # noqa: S101 - for mypy; the type says so
            for change in other.artifact.content.files:
                if change.decision == artifact.id:
                    yield "decision", change.path, other


def _files(memory: Memory, artifact: Artifact) -> _Related:
    return _sharing(memory, artifact, "file", "paths", lambda other: said(other).paths)


def _symbols(memory: Memory, artifact: Artifact) -> _Related:
    return _sharing(memory, artifact, "symbol", "symbols", lambda other: said(other).symbols)


def _sharing(
    memory: Memory, artifact: Artifact, relation: str, field: str, of: Callable[[Artifact], tuple[str, ...]]
) -> _Related:
    """What names the same, of its own session before others, and what was concluded before what was said."""
    for name in of(artifact)[:_MOST_FOLLOWED]:
        same = " AND ".join(quoted(word, field) for word in _surface(memory, name))
        if not same:
            continue
        own = memory.matching(f"{quoted(session_token(artifact.session))} AND {same}", _MOST_READ)
        numbers = dict.fromkeys([*own, *memory.matching(same, _MOST_READ)])
        found = [each for each in memory.numbered(numbers).values() if name in of(each.artifact)]
        for other in sorted(found, key=lambda each: _closeness(each, artifact)):
            yield relation, name, other


def _surface(memory: Memory, name: str) -> list[str]:
    text = spelled(name)
    return list(dict.fromkeys(text[token.first : token.last] for token in memory.tokenizer.tokens(text)))


def _task(memory: Memory, artifact: Artifact) -> _Related:
    if artifact.task is None:
        return
    numbers = memory.matching(quoted(task_token(artifact.task)), _MOST_READ)
    for other in sorted(memory.numbered(numbers).values(), key=lambda each: _closeness(each, artifact)):
        yield "task", artifact.task, other


def _time(memory: Memory, artifact: Artifact) -> _Related:
    """What was said right before and after: around it, or around the piece that stands at its time."""
    if artifact.at is None:
        return
    for other in memory.beside(artifact.session, artifact.at, _REACH):
        yield "time", "", other


def _closeness(other: Stored, artifact: Artifact) -> tuple[bool, bool, float, int, str]:
    """What still holds first, then the same session, then by type and by how near in time."""
    found = other.artifact
    apart = abs((found.at or 0) - (artifact.at or 0))
    return ranking.is_stale(other), found.session != artifact.session, -WEIGHTS.of_type(found.type), apart, found.id
