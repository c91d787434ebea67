"""How something ended by somebody's word."""

from blackbird.artifacts.model import Status
from blackbox.errors import UsageError

#: That nobody knows is no word.
VERDICTS = (Status.SUCCESS, Status.FAIL, Status.BLOCKED)


def verdict(status: str) -> Status:
    """The word as it is kept. Raises `UsageError` for anything that is none."""
    if status not in VERDICTS:
        raise UsageError(f"`{status}` is no way to end", f"say {', '.join(VERDICTS[:-1])} or {VERDICTS[-1]}")
    return Status(status)
