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

#: How long a run waits for its pack. A memory that has much to take in goes on with that beside the agent.
_PACK_SECONDS = 5.0
#: How long its end waits for the outcome.
_OUTCOME_SECONDS = 3.0


T = TypeVar("T")


class Asked(NamedTuple):
    """Whose pack is wanted."""

    session: str
    task: str
    description: str | None
    folder: str | None


class Told(NamedTuple):
    """What the memory said: a pack, or why there is none; neither if it has nothing to tell."""

    pack: "Pack | None" = None
    problem: str | None = None


def pack(home: Home, asked: Asked) -> Told:
    """The pack for a run. Whatever goes wrong is told and not raised: the agent is started all the same."""
    made, problem = _within(_PACK_SECONDS, lambda: _ask_for_pack(home, asked))
    return Told(made, problem)


def outcome(home: Home, run: str) -> dict[str, Any] | None:
    """How the run ended by what the memory makes of it, if that can be had in time."""
    found, _ = _within(_OUTCOME_SECONDS, lambda: _ask_for_outcome(home, run))
    return found


def _ask_for_pack(home: Home, asked: Asked) -> "Pack | None":
    # Imported here, since a run without a pack needs none of it.
    from blackbird.config.load import load  # noqa: PLC0415
    from blackbird.recall import Recall  # noqa: PLC0415

    config = load(home)
    if not config["context.inject"]:
        return None
    with Recall(home, config, door="run") as recall:
        made = recall.context(
            session=asked.session, task=asked.task, description=asked.description, folder=asked.folder
        )
    return made if made.text.strip() else None


def _ask_for_outcome(home: Home, run: str) -> dict[str, Any] | None:
    from blackbird import derive  # noqa: PLC0415 - as above
    from blackbird.artifacts.model import Type  # noqa: PLC0415
    from blackbird.store.memory import Reader  # noqa: PLC0415

    derive.catch_up(home)
    with Reader(home.derived) as reader:
        memory = reader.memory
        found = [] if memory is None else memory.find(kind=Type.OUTCOME, run=run)
    return describe(found[-1].artifact) if found else None


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
