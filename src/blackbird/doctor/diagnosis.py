"""Everything that is looked at, in order: facts first, then what they say."""

import datetime as dt
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from blackbird.authority import ca, roots
from blackbird.authority.problems import problems
from blackbird.doctor.checks import files as file_checks
from blackbird.doctor.checks import memory, passing, surroundings, trace
from blackbird.doctor.checks import recorder as recorder_checks
from blackbird.doctor.facts import files, logs, recorded, recorder
from blackbird.doctor.facts import surroundings as set_around
from blackbird.doctor.findings import Finding, note
from blackbird.doctor.native import Client
from blackbird.home import Home
from blackbird.trace.folder import Trace


class Facts(msgspec.Struct, frozen=True):
    """All that was seen, at one time."""

    now: dt.datetime
    days: int
    key: Path
    recorder: recorder.RecorderFacts
    files: files.Files
    recorded: recorded.Recorded
    condition: ca.Condition
    roots: roots.Roots
    logs: list[logs.Logs]
    surroundings: set_around.Surroundings

    @property
    def now_ns(self) -> int:
        """The time, as the trace has it."""
        return int(self.now.timestamp() * 1000) * 1_000_000

    @property
    def since_ns(self) -> int:
        """How far back was looked."""
        return self.now_ns - self.days * 86_400 * 1_000_000_000


def gather(
    home: Home,
    days: int,
    environ: Mapping[str, str] | None = None,
    user_home: Path | None = None,
    folder: Path | None = None,
) -> Facts:
    """Look at everything; nothing is changed, and what cannot be seen is a fact of its own."""
    variables = os.environ if environ is None else environ
    person = Path.home() if user_home is None else user_home
    now = dt.datetime.now(dt.UTC)
    since = int((now - dt.timedelta(days=days)).timestamp() * 1000) * 1_000_000
    about = recorder.gather(home)
    return Facts(
        now=now,
        days=days,
        key=ca.key_path(home),
        recorder=about,
        files=files.gather(home, token_in_config=about.holds_token),
        recorded=recorded.gather(Trace(home.trace), since),
        condition=ca.inspect(home),
        roots=roots.find(variables),
        logs=[logs.gather(client, variables, person, since) for client in Client],
        surroundings=set_around.gather(variables, person, Path.cwd() if folder is None else folder),
    )


def diagnose(seen: Facts) -> list[Finding]:
    """What the facts say, in the order in which one would ask."""
    status = seen.recorder.status
    listen = str(status.get("listen", seen.recorder.listen)) if status is not None else seen.recorder.listen
    found = [
        *recorder_checks.check(seen.recorder),
        *file_checks.check(seen.files),
        *trace.check(seen.recorded, seen.files, seen.since_ns, seen.now_ns),
    ]
    found += memory.check(seen.recorder.memory_mode)
    found += [
        Finding(each.id, each.weight, each.what, str(seen.key.parent), each.remedy)
        for each in problems(seen.condition, seen.key, seen.now)
    ]
    found += [note("root-certificates", text) for text in seen.roots.notes]
    found += passing.check(seen.logs, seen.recorded, seen.days)
    found += surroundings.check(seen.surroundings, seen.logs, listen, seen.now_ns, is_running=status is not None)
    return found
