"""Tells the recorder what a tool did; without one, it waits in the spool for the next.

from blackbird.recorder.events import ToolEvent, tell

tell(ToolEvent(tool="deploy", command="make deploy", exit_code=0, writes=["dist/lamp.tar"]))
"""

import os
import time
import uuid
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from blackbird import home as homes
from blackbird.errors import RecorderDown, RecorderFailed, RecorderRefused
from blackbird.home import Home
from blackbird.recorder import control, program

#: How long a recorder that is there may take.
_PATIENCE_SECONDS = 5.0
#: What it says if it is there and cannot take anything.
_LATER = ("failed", "stopping")
Kept = Literal["trace", "spool"]


class ToolEvent(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What a tool did. `event` is when this is told: as it starts, at its end, or once for the whole of it.

    A start and an end belong together by their `call_id`; it may be that of a model's call. Run, session and task are
    those of the run that this process is in, unless they are given.
    """

    tool: str
    event: Literal["start", "end", "whole"] = "whole"
    call_id: str | None = None
    #: What it was given, and the command that it ran.
    input: dict[str, Any] = {}
    command: str | None = None
    cwd: str | None = None
    exit_code: int | None = None
    duration_ms: float | None = None
    failed: bool | None = None
    error: str | None = None
    output: str | None = None
    reads: list[str] = []
    writes: list[str] = []
    #: What it changed, as a unified diff.
    patch: str | None = None
    session: str | None = None
    task: str | None = None
    run: str | None = None
    client: str | None = None
    #: Nanoseconds since 1970; now, if it is left out.
    at: int | None = None
    #: An event that is told twice under the same id counts once; made up, if it is left out.
    id: str | None = None

    def payload(self, environ: Mapping[str, str]) -> dict[str, Any]:
        """As the trace has it."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        found["event"] = self.event
        for key in ("session", "task", "run"):
            given = environ.get(f"BLACKBIRD_{key.upper()}")
            if given and not any((self.session, self.task, self.run)):
                found[key] = given
        found.setdefault("at", time.time_ns())
        found.setdefault("id", uuid.uuid4().hex)
        return found


def tell(event: ToolEvent, home: Home | None = None, environ: Mapping[str, str] | None = None) -> Kept:
    """Where the event is kept: in the trace, or in the spool until a recorder runs.

    Raises `RecorderRefused` if the recorder says no, and `RecorderFailed` if it can be kept nowhere.
    """
    home = homes.find() if home is None else home
    payload = msgspec.json.encode(event.payload(os.environ if environ is None else environ)).decode()
    try:
        control.request(home, {"op": "append", "type": "tool.event", "payload": payload}, _PATIENCE_SECONDS)
    except (RecorderDown, RecorderFailed):
        pass
    except RecorderRefused as error:
        if error.code not in _LATER:
            raise
    else:
        return "trace"
    return _spool(home, payload)


def _spool(home: Home, payload: str) -> Kept:
    if not home.recorder_json.exists():
        # What may be kept, and what is a secret, is for the settings to say.
        from blackbird.config import load, render  # noqa: PLC0415 - needed before the first start alone

        render.write(load.load(home), home)
    words = ["deliver", "--config", str(home.recorder_json)]
    told = program.run_once("the event", words, "see that the home folder can be written", given=payload.encode())
    return "trace" if told.get("kept") == "trace" else "spool"
