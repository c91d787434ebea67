"""A twin of the recorder that speaks on a control socket and does nothing else."""

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from blackbird.home import Home

Answer = Callable[[dict[str, Any]], bytes]

RUNNING: dict[str, Any] = {
    "ok": True,
    "listen": "127.0.0.1:4141",
    "pid": 4002,
    "supervisor_pid": 4001,
    "version": "0.1.0",
    "instance": "01JD4Q0000000000000000000A",
    "started": "2026-11-16T10:00:00Z",
    "mode": "full",
    "policy": "2026.11.3",
    "active_requests": 1,
    "requests": 12,
    "queue_bytes": 0,
    "synced_sequence": 40,
    "last_sequence": 42,
    "segment": 3,
    "lost_records": 0,
    "lost_bytes": 0,
    "last_error": None,
    "restarts": 0,
}


def home_in(folder: Path) -> Home:
    """A home whose folders are there, for its owner alone."""
    home = Home(folder, folder / "config.toml")
    home.run.mkdir(parents=True, mode=0o700)
    return home


def scripted(*answers: dict[str, Any]) -> tuple[Answer, list[dict[str, Any]]]:
    """Answers in their order, the status whenever it is asked for; and what else was asked."""
    asked: list[dict[str, Any]] = []
    waiting = list(answers)

    def answer(op: dict[str, Any]) -> bytes:
        if op == {"op": "status"}:
            return json.dumps(RUNNING).encode() + b"\n"
        asked.append(op)
        return json.dumps(waiting.pop(0)).encode() + b"\n"

    return answer, asked


@contextlib.contextmanager
def listening(path: Path, answer: Answer) -> Iterator[None]:
    """A socket at that path whose every line is answered; no more than one connection at a time."""
    is_ours = not path.parent.exists()  # a long path has made it a folder of the temporary one
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(path))
        server.listen()
        thread = threading.Thread(target=_serve, args=(server, answer))
        thread.start()
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            thread.join()
            path.unlink()
            if is_ours:
                path.parent.rmdir()


def _serve(server: socket.socket, answer: Answer) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection, connection.makefile("rb") as lines:
            for line in lines:
                said = answer(json.loads(line))
                with contextlib.suppress(BrokenPipeError):
                    connection.sendall(said)
                if not said.endswith(b"\n"):
                    break
