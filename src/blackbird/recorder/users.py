"""Who uses the recorder now: a file for each run, for as long as its agent works."""

import contextlib
from collections.abc import Iterator

import msgspec

from blackbird.home import Home
from blackbird.recorder.alive import is_alive
from blackbox.disk import write_once

PREFIX = "agent-"


class User(msgspec.Struct, frozen=True):
    """A run that is under way."""

    run: str
    session: str
    program: str
    pid: int


@contextlib.contextmanager
def noted(home: Home, user: User) -> Iterator[None]:
    """Have a run noted for the time of a `with` block."""
    path = home.run / f"{PREFIX}{user.run}.json"
    write_once(path, msgspec.json.encode(user), sync=False)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def users(home: Home) -> list[User]:
    """The runs whose process lives; what a killed one left behind counts for nothing."""
    found = []
    for path in sorted(home.run.glob(f"{PREFIX}*.json")):
        with contextlib.suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
            found.append(msgspec.json.decode(path.read_bytes(), type=User))
    return [user for user in found if is_alive(user.pid)]
