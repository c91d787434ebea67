"""Several tasks of one session, each a flight of its own through `blackbird run`, in one home with one memory."""

import dataclasses
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from blackbird.home import Home
from blackbird.provider import Manner, Provider
from blackbird.provider.manner import ask
from tests.agents.harness import flight, world
from tests.agents.harness.cases import Case
from tests.agents.harness.flight import BLACKBIRD, Flight

SESSION = "harbour"


@dataclasses.dataclass(frozen=True)
class Task:
    """What is asked for, and how `run` is told to do it."""

    prompt: str
    options: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Done:
    """A task that is over: what `run` said of it, and what the client printed."""

    exit_code: int | None
    told: dict[str, Any]
    stdout: str
    stderr: str


def fly(case: Case, tasks: Sequence[Task], keep: Path, before: Sequence[Sequence[str]] = ()) -> list[Done]:
    """Let a client do one task after the other; the folders are then moved to `keep`.

    `before` are commands of `blackbird` that the user gives first.
    """
    stage = world.inside() / "stage"
    home, work, bb = flight.set_up(stage)
    names = flight.placeholders(home, work)
    flight.furnish(case, home, work, names)
    flight.configure(bb, case)
    environ = flight.environment(case, home, bb, names)
    done: list[Done] = []
    with Provider(443, ask(Manner(), case.manner.items()), None, str(work), context=world.context()):
        for words in before:
            assert flight.drive([str(BLACKBIRD), *words], work, environ, stage)[0] == 0, _read(stage, "stderr")
        for number, task in enumerate(tasks, 1):
            command = [case.fill(word, names | {"prompt": task.prompt}) for word in case.command]
            run = ["run", "--json", "--session", SESSION, "--task", f"task{number}", *task.options, "--"]
            code, _ = flight.drive([str(BLACKBIRD), *run, *command], work, environ, stage)
            said = _read(stage, "stderr").splitlines()
            told: dict[str, Any] = next(
                (json.loads(line) for line in reversed(said) if line.startswith('{"schema":"run/1"')), {}
            )
            done.append(Done(code, told, _read(stage, "stdout"), "\n".join(said)))
        flight.land(Home(bb, bb / "config.toml"), environ)
    shutil.rmtree(keep, ignore_errors=True)
    keep.parent.mkdir(parents=True, exist_ok=True)
    stage.rename(keep)
    return done


def _read(stage: Path, name: str) -> str:
    return (stage / name).read_text(encoding="utf-8", errors="replace")


__all__ = ["SESSION", "Done", "Flight", "Task", "fly"]
