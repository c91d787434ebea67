"""Starts writers and readers, kills them at random, and looks at what is left."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from blackbird.errors import MemoryBusy
from blackbird.store import files
from blackbird.store.writing import Writing
from tests.soak.memory import roles
from tests.soak.memory.ledger import Ledger

ROOT = Path(__file__).parents[3]
_PATIENCE_SECONDS = 60.0


@dataclass
class Account:
    """How it went; `versions` are those of all sessions together, and `trouble` should be empty."""

    kills: int = 0
    checks: int = 0
    versions: int = 0
    looks: int = 0
    trouble: list[str] | None = None


class Crew:
    """Processes of both roles; one that is killed is replaced, one that ends by itself has something to tell."""

    def __init__(self, folder: Path, roster: dict[str, int], dice: random.Random) -> None:
        self._folder = folder
        self._dice = dice
        self._told = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the crew
        self.members = [self._start(role) for role, count in roster.items() for _ in range(count)]
        self.trouble: list[str] = []

    def kill_one(self) -> None:
        """Kill anybody, and have another in the same role."""
        at = self._dice.randrange(len(self.members))
        role, process = self.members[at]
        self._end(role, process)
        self.members[at] = self._start(role)

    def close(self) -> None:
        """Kill all."""
        for role, process in self.members:
            self._end(role, process)
        self._told.close()

    def _start(self, role: str) -> tuple[str, "subprocess.Popen[bytes]"]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
        words = [sys.executable, "-m", "tests.soak.memory.roles", role, str(self._folder), str(self._dice.random())]
        return role, subprocess.Popen(words, env=environment, cwd=ROOT, stderr=subprocess.PIPE)

    def _end(self, role: str, process: "subprocess.Popen[bytes]") -> None:
        process.send_signal(signal.SIGKILL)
        _, said = process.communicate()
        if process.returncode != -signal.SIGKILL:
            told = said.decode()[-800:]
            self.trouble.append(f"a process that was to {role} ended with {process.returncode}: {told}")


def hammer(folder: Path, seconds: float, *, writers: int, readers: int, seed: int) -> Account:
    """Let them work on one memory for so long."""
    dice = random.Random(seed)  # noqa: S311 - chance, not secrecy
    account = Account()
    crew = Crew(folder, {"write": writers, "read": readers}, dice)
    try:
        _wait_for_promise(folder)
        end = time.monotonic() + seconds
        while time.monotonic() < end and not crew.trouble:
            time.sleep(dice.uniform(0.05, 1.0))
            crew.kill_one()
            account.kills += 1
            if dice.random() < 0.2:
                check(folder)
                account.checks += 1
    finally:
        crew.close()
    check(folder)
    ledger = Ledger(folder / "ledger")
    account.versions = sum(ledger.promised(session) for session in ledger.sessions())
    account.looks = ledger.looks()
    account.trouble = crew.trouble
    return account


def check(folder: Path) -> None:
    """SQLite and its index find nothing wrong, and each session is as promised. Waits for its turn to write."""
    ledger = Ledger(folder / "ledger")
    derived = folder / "derived"
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            with files.locked(derived), ledger.alone():
                path = files.current(derived)
                if path is None:
                    raise AssertionError("the memory is gone")
                with Writing(path) as memory:
                    problems = memory.problems()
                    if problems:
                        raise AssertionError(f"{path.name}: {problems}")
                    for session in ledger.sessions():
                        roles.look_at_all(memory, session, ledger.promised(session))
                return
        except MemoryBusy:
            if time.monotonic() > end:
                raise
            time.sleep(0.001)


def _wait_for_promise(folder: Path) -> None:
    end = time.monotonic() + _PATIENCE_SECONDS
    while not Ledger(folder / "ledger").sessions():
        if time.monotonic() > end:
            raise AssertionError("nobody writes")
        time.sleep(0.02)
