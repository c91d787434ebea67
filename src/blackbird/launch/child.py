"""The child: found, started in the same foreground, waited for; signals and job control as if we were not there."""

import contextlib
import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
import types
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn, Self

from blackbox.errors import BlackboxError

EXIT_NOT_FOUND = 127
EXIT_NOT_EXECUTABLE = 126
_SIGNALLED = 128
#: The terminal sends these to the whole foreground group, so the child has its own.
_FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP)
#: These come to us alone.
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP)
_SHELL = "/bin/sh"


class NotStarted(BlackboxError):
    """The program is not there or cannot be executed; `exit_code` is what a shell would say."""

    code = "not_started"

    def __init__(self, message: str, remedy: str, exit_code: int) -> None:
        super().__init__(message, remedy)
        self.exit_code = exit_code


class Ended(NamedTuple):
    """How a child ended: with a code, or by a signal."""

    code: int | None
    signal: int | None

    @property
    def exit_code(self) -> int:
        """What a shell would call it."""
        return self.code if self.code is not None else _SIGNALLED + (self.signal or 0)


def locate(program: str, environ: Mapping[str, str]) -> str:
    """The file that a shell would execute, or `NotStarted`."""
    path = environ.get("PATH", os.defpath)
    found = shutil.which(program, path=path)
    if found is not None:
        return found
    if os.sep in program and os.path.isdir(program):  # noqa: PTH112 - the name as it is given
        raise NotStarted(f"{program} is a folder", "name a program", EXIT_NOT_EXECUTABLE)
    there = shutil.which(program, mode=os.F_OK, path=path)
    if there is not None:
        raise NotStarted(f"{there} cannot be executed", "make it executable: chmod +x", EXIT_NOT_EXECUTABLE)
    remedy = "if it is an alias or a function of your shell, name its file: type -a shows it"
    raise NotStarted(f"{program}: not found", remedy, EXIT_NOT_FOUND)


class Child:
    """One child for the time of a `with` block, during which signals that are meant for it do not end us.

    Handlers are used and not SIG_IGN, since an ignored signal would be ignored in the child, too; one that was
    ignored before stays so, for both.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._pid: int | None = None
        self._early: list[int] = []
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in (*_FROM_TERMINAL, *_PASSED_ON):
            if signal.getsignal(number) is not signal.SIG_IGN:
                handler = self._pass_on if number in _PASSED_ON else _leave_to_child
                self._before[number] = signal.signal(number, handler)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        # The keys of the terminal still mean the child, and whoever presses one twice is not to lose the last lines.
        for number in self._before.keys() & set(_PASSED_ON):
            signal.signal(number, self._before[number])

    def start(self, path: str, arguments: list[str], environ: Mapping[str, str]) -> None:
        """Start it with our streams, terminal and process group."""
        try:
            self._process = _spawn(path, arguments, environ)
        except OSError as error:
            message = f"{path} cannot be executed: {error.strerror}"
            remedy = "see that it is a program for this machine, and that its interpreter is installed"
            raise NotStarted(message, remedy, EXIT_NOT_EXECUTABLE) from error
        self._pid = self._process.pid
        for number in self._early:
            os.kill(self._pid, number)

    def wait(self) -> Ended:
        """Wait for its end. While it is stopped we are, too, so that the shell sees a stopped job."""
        assert self._process is not None  # noqa: S101 - it was started
        assert self._pid is not None  # noqa: S101 - and not waited for yet
        status = _change(self._pid)
        while os.WIFSTOPPED(status) or os.WIFCONTINUED(status):
            status = self._stand_still(self._pid) if os.WIFSTOPPED(status) else _change(self._pid)
        self._pid = None
        self._process.returncode = os.waitstatus_to_exitcode(status)
        if os.WIFSIGNALED(status):
            return Ended(None, os.WTERMSIG(status))
        return Ended(os.WEXITSTATUS(status), None)

    def _stand_still(self, pid: int) -> int:
        """Be stopped as long as the child is; what happened to it then."""
        if not (news := _news(pid)):
            os.kill(os.getpid(), signal.SIGSTOP)
            if not (news := _news(pid)):
                os.kill(pid, signal.SIGCONT)
        return news[0] if news else _change(pid)

    def _pass_on(self, number: int, _frame: types.FrameType | None) -> None:
        if self._pid is None:
            self._early.append(number)
        else:
            os.kill(self._pid, number)


def _change(pid: int) -> int:
    """Wait until the child stops, goes on or ends."""
    return os.waitpid(pid, os.WUNTRACED | os.WCONTINUED)[1]


def _news(pid: int) -> list[int]:
    """The same without waiting: what happened already, if anything did."""
    found, status = os.waitpid(pid, os.WUNTRACED | os.WCONTINUED | os.WNOHANG)
    return [status] if found else []


def _leave_to_child(_number: int, _frame: types.FrameType | None) -> None:
    """The child has the same signal and decides what it means."""


def _spawn(path: str, arguments: list[str], environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    try:
        return _popen(path, arguments, environ)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        # A script without a first line that names its interpreter: shells run it, and so does execvp.
        return _popen(_SHELL, [_SHELL, path, *arguments[1:]], environ)


def _popen(path: str, arguments: list[str], environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    # All files that are open stay so, except our own. The folder is named to keep Popen from posix_spawn, which on
    # Linux leaves two signals ignored that are not.
    return subprocess.Popen(arguments, executable=path, env=environ, close_fds=False, cwd=os.curdir)  # noqa: S603


def end_like(ended: Ended) -> NoReturn:
    """Leave as the child did: with its code, or by its signal, so that a shell sees the same."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    if ended.signal is not None:
        # The child has left its core, if it was to; ours would be of no use.
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        if ended.signal not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(ended.signal, signal.SIG_DFL)
        os.kill(os.getpid(), ended.signal)
    os._exit(ended.exit_code)
