"""Asks the running recorder: one JSON object a line over its control socket, one back."""

import contextlib
import os
import socket
import stat
from pathlib import Path
from typing import Any

import msgspec

from blackbird.errors import RecorderDown, RecorderFailed, RecorderRefused
from blackbird.home import Home

TIMEOUT_SECONDS = 10.0
_BLOCK = 64 << 10
#: No answer of a recorder is longer.
_LONGEST_ANSWER = 64 << 20


class _No(msgspec.Struct):
    """A refusal, as it comes over the socket."""

    code: str = "refused"
    message: str = "the recorder refused, and did not say why"
    remedy: str = ""


def request(home: Home, op: dict[str, Any], timeout: float = TIMEOUT_SECONDS) -> dict[str, Any]:
    """What the recorder answers, without its `ok`.

    Raises `RecorderDown` if none runs, `RecorderRefused` with its own words if it says no, and `RecorderFailed` if
    what answers does not speak the protocol or says nothing in time.
    """
    address = socket_path(home)
    try:
        line = _exchange(address, msgspec.json.encode(op) + b"\n", timeout)
    except (FileNotFoundError, ConnectionError, NotADirectoryError) as error:
        raise _down(home) from error
    except TimeoutError as error:
        message = f"the recorder did not answer `{op.get('op')}` within {timeout:g} s"
        raise RecorderFailed(message, f"{home.log} says what it was doing") from error
    except OSError as error:
        raise RecorderFailed(f"{address}: {error.strerror or error}", f"{home.log} may say more") from error
    return read_answer(line, str(address))


def connect(home: Home, timeout: float) -> socket.socket:
    """A connection over which many things can be asked, each answered within this time. Raises `RecorderDown`."""
    address = socket_path(home)
    try:
        return _connect(address, timeout)
    except (FileNotFoundError, ConnectionError, NotADirectoryError) as error:
        raise _down(home) from error
    except OSError as error:
        raise RecorderFailed(f"{address}: {error.strerror or error}", f"{home.log} may say more") from error


def _down(home: Home) -> RecorderDown:
    return RecorderDown(f"no recorder runs for {home.path}", "blackbird up starts it")


def status(home: Home, timeout: float = TIMEOUT_SECONDS) -> dict[str, Any] | None:
    """What the recorder says of itself, or nothing if none runs."""
    try:
        return request(home, {"op": "status"}, timeout)
    except RecorderDown:
        return None


def socket_path(home: Home) -> Path:
    """Where the recorder listens: as its configuration says, since the temporary folder may be another by now."""
    with contextlib.suppress(OSError, msgspec.DecodeError, KeyError, TypeError):
        return Path(msgspec.json.decode(home.recorder_json.read_bytes())["control_socket"])
    return home.control_socket


def check_folder(folder: Path) -> None:
    """Refuse a folder in which somebody else could have put a socket of their own."""
    info = folder.lstat()
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid() or info.st_mode & 0o077:
        raise RecorderFailed(
            f"{folder} is not a folder of yours alone", "make it one (chmod 700), or remove it and start anew"
        )


def _connect(address: Path, timeout: float) -> socket.socket:
    if not hasattr(socket, "AF_UNIX"):
        raise RecorderDown("there is no recorder on this system", "blackbox needs none")
    check_folder(address.parent)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout)
        connection.connect(str(address))
    except OSError:
        connection.close()
        raise
    return connection


def _exchange(address: Path, line: bytes, timeout: float) -> bytes:
    answer = bytearray()
    with _connect(address, timeout) as connection:
        connection.sendall(line)
        while not answer.endswith(b"\n") and len(answer) < _LONGEST_ANSWER:
            block = connection.recv(_BLOCK)
            if not block:
                break
            answer += block
    return bytes(answer)


def read_answer(line: bytes, address: str) -> dict[str, Any]:
    """What an answer says; `address` is who gave it, for people."""
    remedy = "blackbird down and blackbird up start it anew"
    if not line.endswith(b"\n"):
        raise RecorderFailed(f"{address}: the recorder closed the connection in the middle of its answer", remedy)
    try:
        body = msgspec.json.decode(line, type=dict[str, Any])
        agreed = body.pop("ok", None)
        if agreed is False:
            no = msgspec.convert(body, _No)
            raise RecorderRefused(no.code, no.message, no.remedy)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise RecorderFailed(f"{address}: what answered is no recorder: {error}", remedy) from error
    if agreed is not True:
        raise RecorderFailed(f"{address}: what answered is no recorder: it says neither yes nor no", remedy)
    return body
