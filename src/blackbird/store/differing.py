"""Two memories, compared artifact by artifact; that another builder made them is no difference."""

from collections.abc import Iterator

import msgspec

from blackbird.artifacts.model import Artifact
from blackbird.store.memory import Memory
from blackbird.store.values import Change

_ARTIFACT = msgspec.json.Decoder(Artifact)


def differences(before: Memory | None, after: Memory) -> Iterator[Change]:
    """What is added, removed or changed, by id. Both are read side by side, and neither is held as a whole."""
    old = iter(before.dump()) if before is not None else iter(())
    new = iter(after.dump())
    left, right = _next(old), _next(new)
    while left is not None or right is not None:
        if right is None or (left is not None and left.id < right.id):
            assert left is not None  # noqa: S101 - for mypy; the loop ends when both are through
            yield _change("removed", left)
            left = _next(old)
        elif left is None or right.id < left.id:
            yield _change("added", right)
            right = _next(new)
        else:
            if msgspec.structs.replace(left, builder=right.builder) != right:
                yield _change("changed", right)
            left, right = _next(old), _next(new)


def _next(bodies: Iterator[bytes]) -> Artifact | None:
    body = next(bodies, None)
    return _ARTIFACT.decode(body) if body is not None else None


def _change(what: str, artifact: Artifact) -> Change:
    return Change(id=artifact.id, what=what, type=artifact.type, session=artifact.session, title=artifact.title)
