"""The exceptions of the package: what the environment refuses and what cannot be asked; each has a remedy.

BlackboxError                 of `blackbox`, so that both commands tell errors alike
├── UsageError                exit 2, also of `blackbox`
│   └── ConfigError           a configuration file, variable or option cannot be used
├── NotFound                  exit 1: what was asked for is not in the trace
├── MemoryBusy                another process writes the memory
├── MemoryDamaged             the memory cannot be read; it can be made anew from the trace
└── RecorderError             exit 3
    ├── RecorderMissing       the program is not installed
    ├── RecorderDown          nothing listens on the control socket
    ├── RecorderRefused       it answered no
    └── RecorderFailed        it did not start, did not stop, or answered nonsense
"""

from collections.abc import Iterable
from pathlib import Path

from blackbox.errors import BlackboxError, UsageError


class ConfigError(UsageError):
    """A configuration file, an environment variable or an option cannot be used."""

    code = "config"


class NotFound(BlackboxError):
    """What was asked for is not in the trace."""

    code = "not_found"


class MemoryBusy(BlackboxError):
    """Another process writes the memory."""

    code = "memory_busy"


class MemoryDamaged(BlackboxError):
    """The memory cannot be read. Nothing is lost by that: it is made anew from the trace."""

    code = "memory_damaged"


class RecorderError(BlackboxError):
    """Something about the recorder program; the environment's fault and not the trace's."""

    code = "recorder"


class RecorderMissing(RecorderError):
    """The recorder program is in none of the folders where an installation puts it."""

    code = "recorder_missing"

    def __init__(self, program: str, searched: Iterable[Path]) -> None:
        self.searched = tuple(searched)
        folders = ", ".join(str(folder) for folder in self.searched)
        super().__init__(
            f"{program} is not installed (looked in {folders})",
            "install blackbird again; on Windows there is no recorder, only blackbox",
        )


class RecorderDown(RecorderError):
    """Nothing listens on the control socket."""

    code = "recorder_down"


class RecorderRefused(RecorderError):
    """The recorder answered that it will not; `code` is its own word for why."""

    def __init__(self, code: str, message: str, remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.code = code


class RecorderFailed(RecorderError):
    """The recorder did not start, did not stop, or answered what is no answer."""

    code = "recorder_failed"
