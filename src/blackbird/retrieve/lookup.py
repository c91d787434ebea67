"""An artifact by its id, or by as much of it as tells it from all others."""

from blackbird.errors import NotFound
from blackbird.store.memory import Memory, Stored
from blackbox.errors import UsageError

PREFIX = "art_"
LEAST = 6
_SHOWN = 5


def whole(memory: Memory, identifier: str) -> Stored:
    """The artifact that an id or the beginning of one means, with or without `art_`.

    Raises `NotFound` if there is none, and `UsageError` if it is too short or several are meant.
    """
    name = identifier.strip().lower().removeprefix(PREFIX)
    found = memory.get(PREFIX + name)
    if found is not None:
        return found
    if len(name) < LEAST:
        raise UsageError(f"{identifier!r} is too short for an id", f"give at least {LEAST} characters of it")
    several = memory.starting(PREFIX + name)
    if not several:
        raise NotFound(f"no artifact {identifier}", "blackbird artifacts lists them; blackbird mem search finds them")
    if len(several) > 1:
        ids = ", ".join(sorted(each.artifact.id for each in several)[:_SHOWN])
        raise UsageError(f"{identifier} means {len(several)} artifacts: {ids}", "give more of the id")
    return several[0]
