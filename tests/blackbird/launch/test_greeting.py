"""What a client starts at the beginning of a session: it says the pack, or nothing, and never fails."""

import json
import sys
from pathlib import Path

from tests.blackbird.launch.cockpit import INJECT, Cockpit
from tests.blackbird.launch.test_briefing import DECIDED, WORKER

GREETING = (sys.executable, "-m", "blackbird.launch.greeting")


def test_it_says_what_is_known_of_the_project(alone: Cockpit) -> None:
    alone.up()
    alone.run("--session", "harbour", "--", sys.executable, "-c", WORKER)
    told = json.dumps({"hook_event_name": "SessionStart", "cwd": str(alone.work), "session_id": "native"}).encode()
    done = alone.direct(*GREETING, data=told, environ={INJECT: "true"})
    assert (done.returncode, done.stderr) == (0, b"")
    answer = json.loads(done.stdout)["hookSpecificOutput"]
    assert answer["hookEventName"] == "SessionStart"
    assert DECIDED in answer["additionalContext"]
    elsewhere = json.dumps({"cwd": str(Path("/"))}).encode()
    for data, environ in (
        (elsewhere, {INJECT: "true", "HOME": "/"}),
        (told, {INJECT: "false"}),
        (told, {INJECT: "true", "BLACKBIRD_RUN": "run_1"}),
        (told, {INJECT: "true", "BLACKBIRD_HOME": str(alone.folder / "none")}),
        (told, {INJECT: "perhaps"}),
    ):
        said = alone.direct(*GREETING, data=data, environ=environ)
        assert (said.returncode, said.stdout, said.stderr) == (0, b"", b""), environ


def test_what_it_is_told_may_be_anything(alone: Cockpit) -> None:
    for data in (b"", b"no", b"[]", b"{\xff"):
        done = alone.direct(*GREETING, data=data)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
