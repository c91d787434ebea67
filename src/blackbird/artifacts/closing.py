"""Open threads that a later task of the same session did: known by its words, where they plainly are the same."""

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from blackbird.artifacts import prose, shortening
from blackbird.artifacts.model import Artifact, OpenThread, Outcome, Status, ThreadKind, ThreadState

#: Fewer words in common may be chance; and of a thread's words, so many have to be those of the task.
_LEAST, _SHARE = 3, 0.75
_WORD = re.compile(r"[^\W_]{3,}")
#: Words that say that something is to be done, or how, and not what.
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        "add also and any are but can cover create ensure extend for from has have how into its later let make more"
        " must need not now our please should some still that the them then there this todo update use was were when"
        " where which will with write yet you your",
    )
)


def closed(threads: Iterable[Artifact], outcomes: Sequence[Artifact]) -> Iterator[Artifact]:
    """The threads, those as done that a later task which went well was about."""
    done = [one for one in outcomes if isinstance(one.content, Outcome) and one.content.status is Status.SUCCESS]
    words = [(one, _words(one.content.description or "")) for one in done if isinstance(one.content, Outcome)]
    for thread in threads:
        content = thread.content
        is_todo = isinstance(content, OpenThread) and content.kind is ThreadKind.TODO and content.state.is_open
        meant = _words(thread.content.text) if is_todo and isinstance(thread.content, OpenThread) else frozenset()
        by = next((one for one, said in words if _is_later(one, thread) and _is_same(meant, said)), None)
        yield thread if by is None else _done(thread, by)


def _is_later(outcome: Artifact, thread: Artifact) -> bool:
    """Whether it is of another run, which ended when the thread was known."""
    is_other = outcome.run is not None and outcome.run != thread.run and outcome.task is not None
    return is_other and outcome.at is not None and thread.at is not None and outcome.at > thread.at


def _is_same(meant: frozenset[str], said: frozenset[str]) -> bool:
    shared = len(meant & said)
    return shared >= _LEAST and shared >= _SHARE * len(meant)


def _done(thread: Artifact, by: Artifact) -> Artifact:
    assert isinstance(thread.content, OpenThread)  # noqa: S101 - only those are asked about
    name = shortening.one_line(by.title, 80)
    content = msgspec.structs.replace(
        thread.content, state=ThreadState.DONE, closed_at=by.at, closed_by=f"the task {by.task}: {name}"
    )
    provenance = (*thread.provenance, by.provenance[0])
    return msgspec.structs.replace(thread, content=content, provenance=provenance, at=by.at)


def _words(text: str) -> frozenset[str]:
    return frozenset(prose.key(word) for word in _WORD.findall(text.casefold()) if word not in _EMPTY)
