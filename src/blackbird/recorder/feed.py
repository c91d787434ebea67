"""Many operations one after the other: over the control socket, or by a process that opens the trace for them."""

import contextlib
import subprocess
import tempfile
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

import msgspec

from blackbird.config import render
from blackbird.config.resolve import Config
from blackbird.errors import RecorderDown, RecorderFailed
from blackbird.home import Home
from blackbird.recorder import control, program

#: How long a batch may take: the disk may be slow, and the recorder has others to serve.
_PATIENCE_SECONDS = 120.0
_SAID = 4000


class Channel(NamedTuple):
    """Where to write, where to read, and whom that reaches."""

    output: IO[bytes]
    answers: IO[bytes]
    whom: str


class Feed:
    """Asks, and waits for each answer: the recorder that runs, or one that serves nobody else and ends with this.

    Nothing is opened before something is asked.
    """

    def __init__(self, home: Home, config: Config) -> None:
        self._home = home
        self._config = config
        self._stack = contextlib.ExitStack()
        self._channel: Channel | None = None
        self._said: IO[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._channel = None
        self._stack.close()

    def send(self, op: dict[str, Any]) -> dict[str, Any]:
        """What is answered, without its `ok`.

        Raises `RecorderRefused` if it is no, and `RecorderFailed` if nothing comes.
        """
        channel = self._channel = self._channel or self._open()
        try:
            channel.output.write(msgspec.json.encode(op) + b"\n")
            channel.output.flush()
            line = channel.answers.readline()
        except OSError as error:
            raise self._broken(channel, error.strerror or str(error)) from error
        if not line:
            raise self._broken(channel, "it gave no answer")
        return control.read_answer(line, channel.whom)

    def _open(self) -> Channel:
        try:
            connection = self._stack.enter_context(control.connect(self._home, _PATIENCE_SECONDS))
        except RecorderDown:
            return self._start()
        output = connection.makefile("wb")
        # What could not be sent is still in its buffer, and closing it would try once more.
        self._stack.callback(_close, output)
        return Channel(output, self._stack.enter_context(connection.makefile("rb")), "the recorder")

    def _start(self) -> Channel:
        render.write(self._config, self._home)
        self._said = self._stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
        # A session of its own: Ctrl-C is for whoever asks, who then ends it in order.
        recorder = program.find()
        try:
            process = subprocess.Popen(  # noqa: S603 - our own program by its full path
                [recorder, "import", "--config", self._home.recorder_json],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                start_new_session=True,
            )
        except OSError as error:
            message = f"{recorder}: the recorder cannot be started: {error.strerror or error}"
            raise RecorderFailed(message, "install blackbird again, for this system and this user") from error
        assert process.stdin is not None  # noqa: S101 - pipes were asked for
        assert process.stdout is not None  # noqa: S101
        self._stack.callback(process.stdout.close)
        self._stack.callback(process.wait)
        self._stack.callback(_close, process.stdin)
        return Channel(process.stdin, process.stdout, "the process that writes the trace")

    def _broken(self, channel: Channel, reason: str) -> RecorderFailed:
        self._channel = None
        if self._said is not None:
            _close(channel.output)
            channel.answers.read()
            self._said.seek(0)
            reason = _sentences(self._said.read()) or reason
        message = f"{channel.whom} broke off: {reason}"
        return RecorderFailed(message, "what was answered before is kept; the same command goes on from there")


def _close(output: IO[bytes]) -> None:
    with contextlib.suppress(OSError):
        output.close()


def _sentences(said: bytes) -> str:
    """What of its words is not for programs."""
    lines = said.decode(errors="replace").splitlines()
    return " ".join(line for line in lines if line and not line.startswith("{"))[-_SAID:]
