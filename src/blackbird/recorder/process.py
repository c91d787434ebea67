"""Starts and stops the recorder, and has it do maintenance when it does not run."""

import contextlib
import errno
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

import msgspec

from blackbird.config import render
from blackbird.config.resolve import Config
from blackbird.errors import RecorderDown, RecorderFailed
from blackbird.home import Home
from blackbird.recorder import control, program
from blackbird.recorder.alive import is_alive
from blackbox.disk import create_file, make_folder, reopen_file, write_error

START_SECONDS = 20.0
MAINTENANCE_SECONDS = 3600.0
_TERM_SECONDS = 10.0
#: How long a recorder that is there may take to answer: it may have been started this very moment.
_ANSWER_SECONDS = 5.0
#: What one says that finds another in its place.
_HELD = "already running"
_POLL_SECONDS = 0.05
_SAID = 4000
_LONGEST_LOG = 8 << 20


class Ready(msgspec.Struct):
    """What the recorder prints when it listens."""

    listen: str
    pid: int
    ready: bool


class Started(NamedTuple):
    """A running recorder, and whether it ran before."""

    listen: str
    pid: int
    was_running: bool


def up(home: Home, config: Config) -> Started:
    """Start the recorder and wait until it listens; one that runs already, or is being started, is left alone."""
    pid = _read_pid(home)
    is_there = pid is not None and is_recorder(pid)
    before_us = _running(home, _ANSWER_SECONDS if is_there else 0.0)
    if before_us is not None:
        return before_us
    command = _prepare(home, config)
    with _open_log(home.log) as log:
        before = log.tell()
        recorder = subprocess.Popen(  # noqa: S603 - our own program by its full path
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            cwd=home.path,
        )
    assert recorder.stdout is not None  # noqa: S101 - a pipe was asked for
    with recorder.stdout as output:
        ready = _wait_for_ready(output)
    if isinstance(ready, str):
        code = _end(recorder)
        said = _sentences(home.log.read_bytes()[before:])
        # Whoever starts several agents at once starts several recorders, of which one goes on.
        other = _running(home, START_SECONDS) if _HELD in said else None
        if other is not None:
            return other
        raise _not_started(config, said or ready or f"it ended with {code} and said nothing")
    # It outlives this process on purpose; Popen would complain about a child without an end.
    recorder.returncode = 0
    return Started(ready.listen, ready.pid, was_running=False)


def _running(home: Home, patience: float) -> Started | None:
    """The recorder that runs, or that answers within so many seconds; nothing if none does."""
    end = time.monotonic() + patience
    while True:
        running = control.status(home)
        if running is not None:
            return Started(running["listen"], running.get("supervisor_pid") or running["pid"], was_running=True)
        if time.monotonic() >= end:
            return None
        time.sleep(_POLL_SECONDS)


def run_in_foreground(home: Home, config: Config) -> NoReturn:
    """Become the recorder: signals, output and the exit code are its own from here on."""
    running = control.status(home)
    if running is not None:
        message = f"a recorder runs already, on {running['listen']}"
        raise RecorderFailed(message, "blackbird down stops it")
    command = _prepare(home, config)
    sys.stdout.flush()
    os.execv(command[0], command)  # noqa: S606 - our own program by its full path


def down(home: Home) -> int | None:
    """Stop the recorder and wait for its end; its process id, or nothing if none ran."""
    patience = _drain_seconds(home) + _TERM_SECONDS
    pid = _ask_to_stop(home)
    if pid is not None and _wait_for_end(pid, patience):
        return pid
    pid = _read_pid(home) if pid is None else pid
    if pid is None or not is_recorder(pid):
        _remove_leftovers(home)
        return None
    os.kill(pid, signal.SIGTERM)
    if not _wait_for_end(pid, patience):
        message = f"the recorder (process {pid}) does not stop"
        raise RecorderFailed(message, f"kill -9 {pid} ends it; {home.log} may say what keeps it")
    _remove_leftovers(home)
    return pid


def _ask_to_stop(home: Home) -> int | None:
    """The process id of the recorder that agreed to stop; nothing if none answered."""
    try:
        running = control.status(home)
        if running is not None:
            control.request(home, {"op": "stop"})
    except (RecorderDown, RecorderFailed):
        return None
    return None if running is None else running.get("supervisor_pid") or running["pid"]


def maintain(home: Home, config: Config, op: dict[str, Any]) -> dict[str, Any]:
    """Have an operation on the trace done: by the recorder that runs, or by one started for that alone."""
    with contextlib.suppress(RecorderDown):
        return control.request(home, op, MAINTENANCE_SECONDS)
    render.write(config, home)
    arguments = msgspec.json.encode({key: value for key, value in op.items() if key != "op"})
    remedy = "nothing was changed if the trace is in use; try again when it is not"
    return program.run_once(op["op"], ["maintain", "--config", home.recorder_json, op["op"], arguments], remedy)


def _prepare(home: Home, config: Config) -> list[str]:
    """The command that starts the recorder, with all it needs in its place."""
    command = [str(program.find()), "serve", "--config", str(home.recorder_json)]
    pid = _read_pid(home)
    if pid is not None and is_recorder(pid):
        raise RecorderFailed(
            f"a recorder (process {pid}) is there and does not answer", "blackbird down ends it; then start it again"
        )
    make_folder(home.path)
    make_folder(home.run)
    make_folder(home.control_socket.parent)
    control.check_folder(home.control_socket.parent)
    render.write(config, home)
    return command


def _open_log(path: Path) -> IO[bytes]:
    """The log, to be written on at its end; one that has become long is put aside first."""
    try:
        if path.exists() and path.stat().st_size > _LONGEST_LOG:
            path.replace(path.with_suffix(".log.old"))
        log = reopen_file(path) if path.exists() else create_file(path)
        log.seek(0, os.SEEK_END)
    except OSError as error:
        raise write_error(path, error) from error
    return log


def _sentences(log: bytes) -> str:
    """What of a log is not for programs: the sentence a recorder ends with when it cannot go on."""
    lines = log.decode(errors="replace").splitlines()
    return " ".join(line for line in lines if line and not line.startswith("{"))[-_SAID:]


def _wait_for_ready(output: IO[bytes]) -> Ready | str:
    """The line that says so, or what happened in its place; an empty text if the recorder just ended."""
    end = time.monotonic() + START_SECONDS
    line = b""
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            if not selector.select(max(0.0, end - time.monotonic())):
                return f"it was not ready within {START_SECONDS:g} s"
            block = os.read(output.fileno(), 4096)
            if not block:
                return ""
            line += block
    try:
        return msgspec.json.decode(line, type=Ready)
    except msgspec.DecodeError:
        return f"it said `{line.decode(errors='replace').strip()[:200]}` and not that it is ready"


def _end(recorder: subprocess.Popen[bytes]) -> int:
    recorder.terminate()
    try:
        return recorder.wait(_TERM_SECONDS)
    except subprocess.TimeoutExpired:
        recorder.kill()
        return recorder.wait()


def _not_started(config: Config, reason: str) -> RecorderFailed:
    listen = config["proxy.listen"]
    if _is_taken(listen):
        return RecorderFailed(
            f"{listen} is in use by another program",
            "end that program, or choose another port: blackbird up --port 4151, or proxy.listen in your file",
        )
    return RecorderFailed(f"the recorder did not start: {reason}", "blackbird up --foreground shows all it says")


def _is_taken(listen: str) -> bool:
    host, _, port = listen.rpartition(":")
    family = socket.AF_INET6 if host.startswith("[") else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host.strip("[]"), int(port)))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False


def _drain_seconds(home: Home) -> float:
    with contextlib.suppress(OSError, msgspec.DecodeError, KeyError, TypeError, ValueError):
        return float(msgspec.json.decode(home.recorder_json.read_bytes())["drain_seconds"])
    return 0.0


def _read_pid(home: Home) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        return int(home.pid_file.read_text(encoding="ascii"))
    return None


def is_recorder(pid: int) -> bool:
    """Whether a process is a recorder of ours; a process id from a file may by now be anybody's."""
    if not is_alive(pid):
        return False
    line = Path(f"/proc/{pid}/cmdline")
    if line.exists():
        words = line.read_bytes().split(b"\0")
        return bool(words) and Path(os.fsdecode(words[0])).name == program.PROGRAM
    shown = subprocess.run(  # noqa: S603 - a number is all that is passed
        ["/bin/ps", "-p", str(pid), "-o", "comm="], capture_output=True, text=True, check=False
    )
    return Path(shown.stdout.strip()).name == program.PROGRAM


def _wait_for_end(pid: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while is_alive(pid):
        if time.monotonic() > end:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _remove_leftovers(home: Home) -> None:
    """What a recorder that was killed left behind."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        home.pid_file.unlink()
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        control.socket_path(home).unlink()
