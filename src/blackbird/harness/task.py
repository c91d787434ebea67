"""A task that is under way: a run of it that the recorder knows, what the agent should know, and how it ended."""

import contextlib
import os
import time
from types import TracebackType
from typing import Self

from blackbird.harness.stating import Statements
from blackbird.harness.verdicts import verdict
from blackbird.home import Home
from blackbird.pack.model import Pack
from blackbird.recorder import users
from blackbird.recorder.users import User
from blackbird.timeline import statements

PROGRAM = "harness"


class Task:
    """One run of a task. Requests that are sent with its `environment` belong to it.

    `pack` is what the tasks before came to, to be put before an agent; its `text` is ready to be read.
    """

    def __init__(
        self, home: Home, statements_: Statements, run: dict[str, str], environment: dict[str, str], pack: Pack
    ) -> None:
        self.id = run["task"]
        self.run = run["run"]
        self.session = run["session"]
        #: The variables for a child of this process: where its requests go, and whose they are.
        self.environment = environment
        self.pack = pack
        self._statements = statements_
        self._began = time.monotonic()
        self._has_ended = False
        self._stack = contextlib.ExitStack()
        self._stack.enter_context(users.noted(home, User(self.run, self.session, PROGRAM, os.getpid())))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end(exit_code=None if kind is None else 1)

    def record_outcome(self, status: str, summary: str | None = None) -> None:
        """Say how this run ended: `success`, `fail` or `blocked`, and what came of it. It is the last word on it."""
        with self._statements as told:
            told.state(statements.OUTCOME, task=self.id, run=self.run, status=verdict(status), summary=summary)

    def end(self, exit_code: int | None = None) -> None:
        """Say that this run is over; once is enough. An exit code other than 0 says that it failed."""
        if self._has_ended:
            return
        self._has_ended = True
        with self._stack, self._statements as told:
            took = round((time.monotonic() - self._began) * 1000)
            told.state("run.end", task=self.id, run=self.run, exit_code=exit_code, duration_ms=took)
