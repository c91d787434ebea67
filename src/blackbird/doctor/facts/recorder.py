"""The recorder: whether it answers, how it is set, who has its port."""

import contextlib
import errno
import importlib.metadata
import os
import re
import socket
from pathlib import Path
from typing import Any

import msgspec

from blackbird.config import render
from blackbird.config.load import load
from blackbird.config.resolve import Config
from blackbird.errors import RecorderError
from blackbird.home import Home
from blackbird.recorder import control, process, program
from blackbox.errors import BlackboxError

#: A recorder that was started elsewhere has its socket elsewhere; that is no other setting.
_NO_SETTINGS = frozenset({"schema", "control_socket"})
_LISTENING = "0A"
_PROC = Path("/proc")


class Owner(msgspec.Struct, frozen=True):
    """A process that has a port."""

    pid: int
    name: str


class RecorderFacts(msgspec.Struct, frozen=True):
    """What can be seen of the recorder from outside; `failure` is why one that is there did not answer."""

    version: str
    listen: str
    status: dict[str, Any] | None = None
    failure: str | None = None
    silent_pid: int | None = None
    installed: bool = True
    changed: list[str] = []
    port_taken: bool = False
    port_owner: Owner | None = None
    config_error: str | None = None
    config_remedy: str = ""
    token_set: bool = False
    #: Whether the configuration holds a token of any kind, and so must be for its owner's eyes alone.
    holds_token: bool = False
    memory_mode: str | None = None


def gather(home: Home) -> RecorderFacts:
    """All about the recorder of a home."""
    config, error = _config(home)
    listen = config["proxy.listen"] if config is not None else "127.0.0.1:4141"
    status, failure = _status(home)
    is_taken = status is None and _is_taken(listen)
    return RecorderFacts(
        version=importlib.metadata.version("blackbird"),
        listen=listen,
        status=status,
        failure=failure,
        silent_pid=_silent_pid(home) if status is None else None,
        installed=_is_installed(),
        changed=changed_settings(home, config) if status is not None and config is not None else [],
        port_taken=is_taken,
        port_owner=find_owner(int(listen.rpartition(":")[2])) if is_taken else None,
        config_error=None if error is None else error.message,
        config_remedy="" if error is None else error.remedy,
        token_set=config is not None and config["proxy.token"] is not None,
        holds_token=config is not None and any(config[name] is not None for name in ("proxy.token", "mcp.token")),
        memory_mode=config["memory.mode"] if config is not None else None,
    )


def changed_settings(home: Home, config: Config) -> list[str]:
    """The keys of the recorder's configuration that would be others if it were started now; never their values."""
    wanted = msgspec.json.decode(msgspec.json.encode(render.recorder_config(config, home)))
    try:
        given = msgspec.json.decode(home.recorder_json.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.DecodeError):
        return []
    keys = (wanted.keys() | given.keys()) - _NO_SETTINGS
    return sorted(key for key in keys if wanted.get(key) != given.get(key))


def find_owner(port: int, proc: Path = _PROC) -> Owner | None:
    """The process that listens on a port; nothing where the system does not tell, or it is another user's."""
    sockets = {f"socket:[{inode}]" for inode in _inodes(port, proc)}
    for folder in proc.glob("[0-9]*/fd") if sockets else ():
        with contextlib.suppress(OSError):
            if any(os.readlink(each) in sockets for each in folder.iterdir()):  # noqa: PTH115 - not a path
                name = (folder.parent / "comm").read_text("utf-8", "replace").strip()
                return Owner(int(folder.parent.name), name)
    return None


def _inodes(port: int, proc: Path) -> list[str]:
    found = []
    for table in ("net/tcp", "net/tcp6"):
        with contextlib.suppress(OSError):
            for line in (proc / table).read_text("ascii", "replace").splitlines()[1:]:
                words = line.split()
                if len(words) > 9 and words[3] == _LISTENING and re.fullmatch(f"[0-9A-F]+:{port:04X}", words[1]):
                    found.append(words[9])
    return found


def _config(home: Home) -> tuple[Config | None, BlackboxError | None]:
    try:
        return load(home), None
    except BlackboxError as error:
        return None, error


def _status(home: Home) -> tuple[dict[str, Any] | None, str | None]:
    try:
        return control.status(home), None
    except RecorderError as error:
        return None, error.message


def _silent_pid(home: Home) -> int | None:
    """The process of a recorder that is there although it does not answer."""
    with contextlib.suppress(OSError, ValueError):
        pid = int(home.pid_file.read_text(encoding="ascii"))
        return pid if process.is_recorder(pid) else None
    return None


def _is_installed() -> bool:
    try:
        program.find()
    except RecorderError:
        return False
    return True


def _is_taken(listen: str) -> bool:
    host, _, port = listen.rpartition(":")
    family = socket.AF_INET6 if host.startswith("[") else socket.AF_INET
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host.strip("[]"), int(port)))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False
