"""The context pack before a flight and the outcome after it: asked of the memory within a time, never in the way."""

import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from blackbird.home import Home

if TYPE_CHECKING:
    from blackbird.artifacts.model import Artifact
    from blackbird.pack.model import Pack
    from blackbird.recall import Recall

#: How long a run waits for its pack. A memory that has much to take in goes on with that beside the agent.
_PACK_SECONDS = 5.0
#: How long its end waits for the outcome.
_OUTCOME_SECONDS = 3.0
#: How long is waited for what was just stated to be on the disk.
_DISK_SECONDS = 1.0


T = TypeVar("T")


class Asked(NamedTuple):
    """Whose pack is wanted."""

    session: str | None
    task: str | None
    description: str | None
    folder: str | None
    #: What was stated last, which the memory is to know.
    after: int = 0


class Told(NamedTuple):
    """What the memory said: a pack, or why there is none; neither if it has nothing to tell."""

    pack: "Pack | None" = None
    problem: str | None = None


def is_wanted(home: Home) -> bool:
    """Whether the settings let a run give its agent anything; if they cannot be read, that is said later."""
    from blackbird.config.load import load  # noqa: PLC0415 - a run that only records needs none of it
    from blackbird.errors import ConfigError  # noqa: PLC0415

    try:
        return bool(load(home)["context.inject"])
    except ConfigError:
        return True


def pack(home: Home, asked: Asked) -> Told:
    """The pack for a run. Whatever goes wrong is told and not raised: the agent is started all the same."""
    made, problem = _within(_PACK_SECONDS, lambda: _ask_for_pack(home, asked))
    return Told(made, problem)


def outcome(home: Home, run: str, after: int) -> dict[str, Any] | None:
    """How the run ended by what the memory makes of it up to a record, if that can be had in time."""
    found, _ = _within(_OUTCOME_SECONDS, lambda: _ask_for_outcome(home, run, after))
    return found


def _ask_for_pack(home: Home, asked: Asked) -> "Pack | None":
    with _recall(home, asked.after) as recall:
        made = recall.context(
            session=asked.session, task=asked.task, description=asked.description, folder=asked.folder
        )
    return made if made.text.strip() else None


def _ask_for_outcome(home: Home, run: str, after: int) -> dict[str, Any] | None:
    from blackbird.artifacts.model import Type  # noqa: PLC0415 - as above

    with _recall(home, after) as recall:
        found = recall.ask(lambda memory: memory.find(kind=Type.OUTCOME, run=run))
    return describe(found[-1].artifact) if found else None


def _recall(home: Home, after: int) -> "Recall":
    """The memory, asked once what was stated last is on the disk: it takes in nothing before."""
    from blackbird.config.load import load  # noqa: PLC0415 - as above
    from blackbird.recall import Recall  # noqa: PLC0415
    from blackbird.trace.folder import Trace  # noqa: PLC0415

    Trace(home.trace).wait_for(after, _DISK_SECONDS)
    return Recall(home, load(home), door="run")


def describe(artifact: "Artifact") -> dict[str, Any]:
    """An outcome as a run tells it: how it ended and by what evidence, the tests that were seen, the files."""
    from blackbird.artifacts.model import Outcome  # noqa: PLC0415 - as above

    content = artifact.content
    assert isinstance(content, Outcome)  # noqa: S101 - it was asked for by its type
    tests = [each for each in content.commands if each.kind == "test"]
    return {
        "id": artifact.id,
        "status": str(content.status),
        "decided_by": content.decided_by,
        "tests": [{"line": each.line, "ok": each.ok, "said": each.said} for each in tests],
        "files": [each.path for each in content.files],
    }


def _within(seconds: float, work: Callable[[], T]) -> tuple[T | None, str | None]:
    """What came of some work, or why nothing did. The thread is left to itself if it takes longer."""
    future: Future[T] = Future()

    def do() -> None:
        try:
            future.set_result(work())
        except Exception as error:  # noqa: BLE001 - whatever the memory meets is no reason to keep an agent from its work
            future.set_exception(error)

    # Signals are for the main thread, which has the child.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        threading.Thread(target=do, name="memory", daemon=True).start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        error = future.exception(seconds)
    except TimeoutError:
        return None, f"the memory took longer than {seconds:.0f} s"
    return (future.result(), None) if error is None else (None, str(error) or type(error).__name__)
