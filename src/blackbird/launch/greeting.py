"""What a client starts at the beginning of a session after `blackbird install`: it says the pack, or nothing.

Three clients take the same answer. Whatever goes wrong, the client is not kept waiting for long, nor given an error.
"""

import json
import os
import sys
from typing import Any

from blackbird import home as homes
from blackbird.agents import packs
from blackbird.launch import briefing

_EVENT = "SessionStart"
_LONGEST = 1 << 20


def main() -> None:
    """Answer one hook."""
    told = _told()
    # Started by `blackbird run`, it has its pack already.
    if "BLACKBIRD_RUN" not in os.environ:
        home = homes.find()
        if home.trace.is_dir() and briefing.is_wanted(home):
            _say(briefing.pack(home, _asked(told)))
    sys.stdout.flush()
    # What the memory may still be at is no reason for the client to wait.
    os._exit(0)


def _told() -> dict[str, Any]:
    """What the client says of the session."""
    try:
        told = json.loads(sys.stdin.buffer.read(_LONGEST) or b"{}")
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _asked(told: dict[str, Any]) -> briefing.Asked:
    folder = told.get("cwd")
    return briefing.Asked(
        os.environ.get("BLACKBIRD_SESSION"),
        os.environ.get("BLACKBIRD_TASK"),
        None,
        folder if isinstance(folder, str) else homes.working_folder(),
    )


def _say(made: briefing.Told) -> None:
    if made.pack is not None:
        sys.stdout.write(packs.answer(made.pack.text, _EVENT).decode())


if __name__ == "__main__":
    main()
