"""The real recorder program as a test drives it: its own home, its own port, its configuration written here."""

import json
import os
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from blackbird.recorder import program
from tests.clients.peer import PATIENCE, Message, Peer
from tests.recorder import trace_view
from tests.recorder.trace_view import Exchange, Record

_CONFIG: Mapping[str, Any] = {
    "schema": "recorder-config/1",
    "listen": "127.0.0.1:0",
    "token": None,
    "allowed_hosts": [],
    "allowed_origins": [],
    "upstreams": {},
    "default_upstream": None,
    "intercept": {},
    "websocket": "relay",
    "ca_file": None,
    "mode": "full",
    "lossless": True,
    "queue_bytes": 33554432,
    "keep_undecodable": False,
    "decode_memory": 33554432,
    "decoded_limit": 268435456,
    "drain_seconds": 30,
    "threads": None,
    "trace": {
        "persist": "grouped",
        "sync_ms": 20,
        "rotate_bytes": 134217728,
        "rotate_seconds": 3600,
        "retention_days": None,
        "max_bytes": None,
        "seal": True,
    },
    "redaction": {"ruleset_version": None, "off": [], "on": [], "allow": [], "rules": None},
}


def recorder_program() -> Path:
    """The program under test: of this installation, unless BLACKBIRD_RECORDER names another."""
    named = os.environ.get("BLACKBIRD_RECORDER")
    return Path(named) if named else program.find()


def until(look: Callable[[], Any], what: str) -> Any:
    """The first thing that is there; a look that finds nothing is repeated for a while."""
    end = time.monotonic() + PATIENCE
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not come within {PATIENCE} s")
        time.sleep(0.005)


class Recorder:
    """A recorder process; `settings` replace keys of its configuration."""

    def __init__(self, home: Path, **settings: Any) -> None:
        self.home = home
        self.trace = home / "trace"
        self.run = home / "run"
        self.socket = self.run / "control.sock"
        trace = {**_CONFIG["trace"], **settings.pop("trace", {})}
        redaction = {**_CONFIG["redaction"], **settings.pop("redaction", {})}
        places = {"home": str(home), "control_socket": str(self.socket)}
        self.config = {**_CONFIG, **settings, "trace": trace, "redaction": redaction, **places}
        self.process: subprocess.Popen[bytes] | None = None
        self.port = 0

    def start(self, *, umask: int = 0o077) -> Self:
        """Write the configuration, start the program and wait until it listens."""
        for folder in (self.home, self.run):
            folder.mkdir(mode=0o700, exist_ok=True)
            folder.chmod(0o700)
        config = self.run / "recorder.json"
        config.write_text(json.dumps(self.config))
        config.chmod(0o600)
        with (self.run / "stderr.txt").open("wb") as said:
            self.process = subprocess.Popen(
                [recorder_program(), "serve", "--config", config],
                stdout=subprocess.PIPE,
                stderr=said,
                stdin=subprocess.DEVNULL,
                umask=umask,
            )
        try:
            ready = json.loads(self._ready_line())
        except BaseException:
            self.stop()
            raise
        assert ready["ready"] is True
        self.port = int(ready["listen"].rpartition(":")[2])
        return self

    def _ready_line(self) -> bytes:
        assert self.process is not None
        assert self.process.stdout is not None
        line = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                assert selector.select(PATIENCE), "the recorder does not say that it is ready"
                piece = os.read(self.process.stdout.fileno(), 4096)
                assert piece, f"the recorder ended: {self.stderr()}"
                line += piece
        return line

    def stderr(self) -> str:
        return (self.run / "stderr.txt").read_text(errors="replace")

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> int:
        """Ask it to stop, wait for its end; its exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self) -> int:
        assert self.process is not None
        try:
            code = self.process.wait(PATIENCE + 10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            if self.process.stdout is not None:
                self.process.stdout.close()
        return code

    def client(self) -> Peer:
        return Peer.connect(self.port)

    def ask(self, request: bytes, *, bodiless: bool = False) -> Message:
        """One request on a connection of its own."""
        with self.client() as client:
            return client.ask(request, bodiless=bodiless)

    def control(self, op: str, **arguments: Any) -> Any:
        """Ask over the control socket."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(PATIENCE)
            connection.connect(str(self.socket))
            connection.sendall(json.dumps({"op": op, **arguments}).encode() + b"\n")
            with connection.makefile("rb") as answer:
                return json.loads(answer.readline())

    def records(self) -> list[Record]:
        return trace_view.records(self.trace)

    def exchanges(self, count: int, *, after: int = 0) -> list[Exchange]:
        """Exchanges that are over, once there are `count` of them beyond the first `after`."""

        def look() -> list[Exchange]:
            found = trace_view.exchanges(self.trace)[after:]
            return found if len(found) >= count and all(entry.is_over for entry in found) else []

        found = until(look, f"{count} recorded exchanges")
        assert len(found) == count
        return list(found)

    def only(self) -> Exchange:
        """The one exchange there is."""
        return self.exchanges(1)[0]

    def files(self) -> dict[Path, bytes]:
        """Every file of the home."""
        return {path: path.read_bytes() for path in sorted(self.home.rglob("*")) if path.is_file()}

    def holds(self, needle: bytes) -> list[str]:
        """The files in which some bytes occur; the configuration is the test's own."""
        found = [path for path, data in self.files().items() if needle in data]
        return [str(path.relative_to(self.home)) for path in found if path.name != "recorder.json"]
