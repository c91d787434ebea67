"""The real command, run as a user would run it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

BLACKBOX = Path(sys.executable).with_name("blackbox")
EXAMPLES = Path(__file__).parents[3] / "examples"
NIGHT_SHIFT = EXAMPLES / "12h-autopilot-session.bbox"
FEATURE = EXAMPLES / "feature-session.bbox"
HEADER = "---\nformat: bbox/1\nid: sess_1\nrepo_sha: 4f2a9c1\nbranch: main\nrunner: local\nsandbox_id: box_1\n---\n"
_CHANGED_BY_TESTS = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "LC_ALL", "PYTHONIOENCODING", "PYTHONUTF8")


class Done(NamedTuple):
    """How a run ended and what it said."""

    code: int
    out: str
    err: str


def environment(**changes: str) -> dict[str, str]:
    """The environment of the tests, without what would change the command's output."""
    kept = {key: value for key, value in os.environ.items() if key not in _CHANGED_BY_TESTS}
    return {**kept, "LC_ALL": "C.UTF-8", **changes}


def run(
    *arguments: str | Path, stdin: bytes = b"", folder: Path | None = None, env: Mapping[str, str] | None = None
) -> Done:
    """Run `blackbox` with the arguments, to its end."""
    done = subprocess.run(
        [BLACKBOX, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=folder,
        env=env if env is not None else environment(),
        timeout=120,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def write_log(folder: Path, name: str, body: str | bytes = "u: Hello\n") -> Path:
    """A log with a good header and the given body."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(HEADER.encode() + (body if isinstance(body, bytes) else body.encode()))
    return path
