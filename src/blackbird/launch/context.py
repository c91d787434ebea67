"""Where a run takes place: the repository, the client and its version, and the tools that are there."""

import contextlib
import platform
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from blackbird.home import working_folder
from blackbird.launch.changes import EMPTY_TREE, State, compare, read_state

#: What a log's header names under `toolset`, and how each tells its version.
TOOLS: Mapping[str, tuple[str, ...]] = {
    "git": ("git", "--version"),
    "python": ("python3", "--version"),
    "node": ("node", "--version"),
    "cargo": ("cargo", "--version"),
    "rustc": ("rustc", "--version"),
    "rg": ("rg", "--version"),
}
#: Asking for a version must not fetch one, nor touch the index of the repository.
_UNTOUCHED = {"GIT_OPTIONAL_LOCKS": "0", "RUSTUP_AUTO_INSTALL": "0"}
_STATUS = ("git", "status", "--porcelain=v2", "--branch", "-z")
_NUMSTAT = ("git", "diff", "--numstat", "-z", "--no-ext-diff", "--no-textconv", "--no-renames")
_PATIENCE_SECONDS = 10.0
#: Enough to state what is known.
_LAST_SECONDS = 0.5
_LONGEST_VERSION = 100
#: How far above a program its package can be.
_PACKAGE_DEPTH = 4
_NUMBER = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")

Tell = Callable[[dict[str, Any]], object]


class Context:
    """Finds out in the background, and states what it found: the repository first, versions once they are known."""

    def __init__(self, program: str, asking: list[str], environ: Mapping[str, str], state: Tell) -> None:
        self._program = program
        self._asking = asking
        self._environ = {**environ, **_UNTOUCHED}
        self._state = state
        self._stop = threading.Event()
        self._asked: subprocess.Popen[bytes] | None = None
        self._before: State | None = None
        self._thread = threading.Thread(target=self._find_out, name="context", daemon=True)
        self._status = self._begin(_STATUS) if shutil.which("git", path=self._environ.get("PATH")) else None

    def start(self) -> None:
        """Go on in a thread; what changes with the child was asked for before."""
        self._thread.start()

    def finish(self, seconds: float) -> None:
        """Wait so long for the rest, and let go of what is not known then."""
        if self._thread.is_alive():
            self._thread.join(seconds)
        self._stop.set()
        for process in (self._asked, self._status):
            if process is not None and process.poll() is None:
                process.kill()
        if self._thread.is_alive():
            self._thread.join(_LAST_SECONDS)

    def changes(self, seconds: float) -> dict[str, Any] | None:
        """What is different in the repository by now, if there is one and git says so in time."""
        if self._before is None:
            return None
        end = time.monotonic() + seconds
        status = self._begin(_STATUS)
        counting = self._begin((*_NUMSTAT, self._before.sha or EMPTY_TREE))
        told = self._collect(status, end - time.monotonic())
        counted = self._collect(counting, end - time.monotonic())
        return compare(self._before, read_state(told), counted) if told is not None else None

    def _find_out(self) -> None:
        about = {"cwd": working_folder(), "os": f"{platform.system()} {platform.release()} {platform.machine()}"}
        self._state({**about, **self._repository()})
        client = self._client_version()
        versions = {name: self._version(words) for name, words in TOOLS.items()}
        versions["go"] = go_version(shutil.which("go", path=self._environ.get("PATH")))
        self._state(
            {"client_version": client, "tools": {name: version for name, version in versions.items() if version}}
        )

    def _repository(self) -> dict[str, Any]:
        told = self._collect(self._status) if self._status is not None else None
        if told is None:
            return {"repository": None}
        self._before = read_state(told)
        root = self._ask(("git", "rev-parse", "--show-toplevel"))
        remote = self._ask(("git", "config", "--get", "remote.origin.url"))
        found = {"repository": without_credentials(remote.strip()) if remote else None}
        return {**found, "root": root.strip() if root else None, **self._before.spelled()}

    def _client_version(self) -> str | None:
        path = shutil.which(self._program, path=self._environ.get("PATH"))
        packaged = package_version(Path(path)) if path is not None else None
        return packaged or (self._version([self._program, *self._asking]) if self._asking else None)

    def _version(self, words: tuple[str, ...] | list[str]) -> str | None:
        if shutil.which(words[0], path=self._environ.get("PATH")) is None:
            return None
        told = self._ask(words)
        return read_version(told) if told else None

    def _ask(self, words: tuple[str, ...] | list[str]) -> str | None:
        if self._stop.is_set():
            return None
        self._asked = self._begin(words)
        if self._asked is not None and self._stop.is_set():
            self._asked.kill()
        return self._collect(self._asked)

    def _begin(self, words: tuple[str, ...] | list[str]) -> subprocess.Popen[bytes] | None:
        """A program away from the terminal: neither its keys nor its signals are for it."""
        with contextlib.suppress(OSError):
            return subprocess.Popen(  # noqa: S603 - the user's own programs, by the user's own PATH
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env=self._environ,
            )
        return None

    def _collect(self, process: subprocess.Popen[bytes] | None, seconds: float = _PATIENCE_SECONDS) -> str | None:
        """What it said, if it ended well and in time."""
        if process is None:
            return None
        try:
            told, _ = process.communicate(timeout=max(0.0, seconds))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return None
        return told.decode(errors="replace") if process.returncode == 0 else None


def read_version(told: str) -> str | None:
    """The first number with dots in it, which is what programs call their version; else the first line."""
    found = _NUMBER.search(told)
    if found is not None:
        return found[0]
    line = told.strip().partition("\n")[0][:_LONGEST_VERSION]
    return line or None


def package_version(program: Path) -> str | None:
    """The version of the npm package that a program belongs to, if it does to one."""
    for folder in program.resolve().parents[:_PACKAGE_DEPTH]:
        with contextlib.suppress(OSError, UnicodeDecodeError, msgspec.DecodeError, msgspec.ValidationError):
            package = msgspec.json.decode((folder / "package.json").read_bytes(), type=_Package)
            programs = package.bin if isinstance(package.bin, dict) else {package.name.rpartition("/")[2]: ""}
            return package.version if program.name in programs else None
    return None


class _Package(msgspec.Struct):
    """What counts of a `package.json`."""

    name: str
    version: str
    bin: dict[str, str] | str = ""


def go_version(program: str | None) -> str | None:
    """The version of Go from the file beside it: the program itself would keep count of being asked."""
    if program is None:
        return None
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return read_version((Path(program).resolve().parents[1] / "VERSION").read_text(encoding="utf-8"))
    return None


def without_credentials(remote: str) -> str:
    """The URL of a repository without user, password and query; the user of SSH is part of the address."""
    if "://" not in remote:
        return remote
    try:
        parts = urlsplit(remote)
    except ValueError:
        return remote.partition("://")[0] + "://"
    user, _, host = parts.netloc.rpartition("@")
    keep = f"{user.partition(':')[0]}@" if user and "ssh" in parts.scheme else ""
    return parts._replace(netloc=keep + host, query="", fragment="").geturl()
