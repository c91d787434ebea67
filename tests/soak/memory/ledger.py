"""What was promised, as files beside the memory: which version of each session was written, and who writes."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

#: How long the death of a process may take on a busy machine.
_DYING_SECONDS = 2.0


class Ledger:
    """One file a session; it is replaced as a whole, so a reader never sees half a number."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(exist_ok=True)

    def promised(self, session: str) -> int:
        """The version that nobody may fall behind; 0 if there is none."""
        try:
            return int((self._folder / session).read_text())
        except FileNotFoundError:
            return 0

    def promise(self, session: str, version: int) -> None:
        """A version was written."""
        temporary = self._folder / f".{session}.{os.getpid()}"
        temporary.write_text(str(version))
        temporary.replace(self._folder / session)

    def tick(self) -> None:
        """Somebody looked, and was content; each look is a byte."""
        with (self._folder / ".looks").open("ab", buffering=0) as file:
            file.write(b".")

    def looks(self) -> int:
        """How often somebody looked."""
        try:
            return (self._folder / ".looks").stat().st_size
        except FileNotFoundError:
            return 0

    def sessions(self) -> list[str]:
        """Those with a promise."""
        return sorted(path.name for path in self._folder.iterdir() if path.name.startswith("session-"))

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """For who holds the memory's lock: no process that lives may say that it holds it, too."""
        witness = self._folder / ".writer"
        with contextlib.suppress(FileNotFoundError, ValueError):
            other = int(witness.read_text())
            if other != os.getpid() and _goes_on_living(other):
                raise AssertionError(f"process {other} writes as well")
        witness.write_text(str(os.getpid()))
        yield
        witness.unlink()


def _goes_on_living(pid: int) -> bool:
    """Whether a process lives, and not only until its kill is through: its files are closed before it is gone."""
    end = time.monotonic() + _DYING_SECONDS
    while _lives(pid):
        if time.monotonic() > end:
            return True
        time.sleep(0.01)
    return False


def _lives(pid: int) -> bool:
    """Whether a process runs; one that was killed and not yet waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"
