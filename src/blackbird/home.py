"""Where everything of one user is: the trace, the files of the running recorder, and the configuration."""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from blackbox.redaction.place import config_path

VARIABLE = "BLACKBIRD_HOME"

#: Systems take 104 to 108 bytes for the path of a socket, its closing zero included.
SOCKET_PATH_BYTES = 100


@dataclass(frozen=True)
class Home:
    """The folder of one user's recordings. Nothing is created by asking for a path."""

    path: Path
    config_file: Path

    @property
    def trace(self) -> Path:
        """The folder of segments."""
        return self.path / "trace"

    @property
    def run(self) -> Path:
        """The folder of the running recorder's own files."""
        return self.path / "run"

    @property
    def runs(self) -> Path:
        """The runs that were registered, one a line."""
        return self.path / "runs.jsonl"

    @property
    def usage(self) -> Path:
        """What was asked of the memory, one answer a line; the file before it stays until the next is full."""
        return self.path / "usage.jsonl"

    @property
    def usage_before(self) -> Path:
        """The answers before those."""
        return self.path / "usage.old.jsonl"

    @property
    def derived(self) -> Path:
        """The folder of what can be made again from the trace."""
        return self.path / "derived"

    @property
    def recorder_json(self) -> Path:
        """The resolved configuration that the recorder reads."""
        return self.run / "recorder.json"

    @property
    def mcp_token(self) -> Path:
        """What clients of the memory must show over HTTP, unless the settings have a word for it."""
        return self.run / "mcp.token"

    @property
    def pid_file(self) -> Path:
        """The process id of the supervisor."""
        return self.run / "recorder.pid"

    @property
    def log(self) -> Path:
        """What supervisor and recorder say about themselves, as JSON lines."""
        return self.run / "recorder.log"

    @property
    def control_socket(self) -> Path:
        """The control socket; in a folder of the temporary one if the usual path is longer than sockets allow."""
        usual = self.run / "control.sock"
        if len(os.fsencode(usual)) <= SOCKET_PATH_BYTES:
            return usual
        short = hashlib.sha256(os.fsencode(self.path)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"blackbird-{short}" / "control.sock"


def find() -> Home:
    """The home of this user: `BLACKBIRD_HOME`, or the platform's folder for the data of programs."""
    chosen = os.environ.get(VARIABLE)
    path = Path(chosen) if chosen else platformdirs.user_data_path("blackbird", appauthor=False)
    return Home(path.absolute(), config_path().absolute())


def working_folder() -> str | None:
    """The folder that this was started in, as text, with `�` for what is no UTF-8; nothing if it is gone."""
    try:
        found = os.getcwd()  # noqa: PTH109 - as it is, not resolved
    except OSError:
        return None
    return found.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
