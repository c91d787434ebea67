"""One flight: a client does the repair in a fresh home and a fresh folder, directly or through `blackbird run`."""

import contextlib
import json
import os
import shutil
import signal
import sqlite3  # noqa: TID251 - the product never opens these
import subprocess
import sysconfig
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blackbird.demo.workshop import FILES, PLANTED
from blackbird.home import Home
from blackbird.provider import Manner, Provider, Received
from blackbird.provider.jobs import TEST_COMMAND
from blackbird.provider.manner import ask
from blackbird.provider.routes import ACCOUNT
from blackbird.recorder import control, process
from tests.agents.harness import world
from tests.agents.harness.cases import HERE, KEY, MORE, PROMPT, Case, login
from tests.agents.install import FOLDER
from tests.recorder import trace_view

BLACKBIRD = Path(sysconfig.get_path("scripts")) / "blackbird"
SECONDS = 120
_CONFIG = """[proxy]
listen = "127.0.0.1:0"
ca_file = "{ca}"
websocket = "{websocket}"

[trace]
seal = false
"""


@dataclass(frozen=True)
class Flight:
    """How it went, and what is left of it."""

    folder: Path
    exit_code: int | None  # None: it had to be stopped
    seconds: float
    stdout: str
    stderr: str
    repaired: bool
    test_passes: bool
    received: list[Received]
    logs: dict[str, str]
    exchanges: list[trace_view.Exchange] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    chosen: bool = False  # `run` goes this way by itself, and was not told to
    verified: str = ""
    leaks: list[str] = field(default_factory=list)


def fly(
    case: Case,
    way: str,
    keep: Path,
    steps: Mapping[int, Manner] | None = None,
    turns: Mapping[int, Manner] | None = None,
    *,
    is_resumed: bool = False,
    is_committed: bool = False,
) -> Flight:
    """Let a client work alone (`direct`) or recorded (`reverse`, `forward`); its folders are then moved to `keep`.

    With `is_resumed` it ends, is started again, and goes on with what it did. With `is_committed` all files are in
    the repository before it starts.
    """
    stage = world.inside() / "stage"
    home, work, bb = set_up(stage)
    names = placeholders(home, work)
    furnish(case, home, work, names)
    if is_committed:
        _commit(work)
    manner = ask(Manner(), case.manner.items())
    environ = environment(case, home, bb, names)
    commands = (case.command, case.resume) if is_resumed else (case.command,)
    lines = [[case.fill(word, names) for word in command] for command in commands]
    chosen = False
    if way != "direct":
        configure(bb, case)
        chosen = _goes_by_itself(lines[0], work, environ) == way
        # What the memory gives is for other tests: here an agent is to do what it does without a recorder.
        run = [str(BLACKBIRD), "run", "--quiet", "--no-pack", *([] if chosen else [f"--{way}"]), "--"]
        lines = [run + line for line in lines]
    with Provider(443, manner, turns, str(work), steps=steps, context=world.context()) as provider:
        code, seconds = [drive(line, work, environ, stage) for line in lines][-1]
        recorded = {} if way == "direct" else land(Home(bb, bb / "config.toml"), environ)
        received = provider.received
    flight = Flight(
        folder=keep,
        exit_code=code,
        seconds=seconds,
        stdout=(stage / "stdout").read_text(encoding="utf-8", errors="replace"),
        stderr=(stage / "stderr").read_text(encoding="utf-8", errors="replace"),
        repaired="return a + b" in (work / "calc.py").read_text(encoding="utf-8"),
        test_passes=subprocess.run(TEST_COMMAND.split(), cwd=work, capture_output=True, check=False).returncode == 0,
        received=received,
        logs=_logs(case, stage),
        chosen=chosen,
        **recorded,
    )
    shutil.rmtree(keep, ignore_errors=True)
    keep.parent.mkdir(parents=True, exist_ok=True)
    stage.rename(keep)
    return flight


def set_up(stage: Path) -> tuple[Path, Path, Path]:
    """An empty stage: a home, a folder to work in, and one for the recorder."""
    shutil.rmtree(stage, ignore_errors=True)
    home, work, bb, temporary = (stage / name for name in ("home", "work", "bb", "tmp"))
    for place in (home, work, bb, temporary):
        place.mkdir(parents=True)
    bb.chmod(0o700)
    return home, work, bb


def placeholders(home: Path, work: Path) -> dict[str, object]:
    """What stands for the names in cases.toml."""
    return {
        "agents": FOLDER,
        "home": home,
        "work": work,
        "here": HERE,
        "prompt": PROMPT,
        "more": MORE,
        "key": KEY,
        "token": login(),
        "account": ACCOUNT,
        "now": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def configure(bb: Path, case: Case) -> None:
    """Settings for a recorder in this world."""
    config = _CONFIG.format(ca=world.authority(), websocket=case.websocket)
    (bb / "config.toml").write_text(config, encoding="utf-8")


def _goes_by_itself(words: list[str], work: Path, environ: dict[str, str]) -> str:
    """The way that `run` chooses if it is not told any."""
    rehearsal = [str(BLACKBIRD), "run", "--dry-run", "--json", "--", *words]
    done = subprocess.run(rehearsal, cwd=work, env=environ, capture_output=True, check=True)
    mode: str = json.loads(done.stdout)["mode"]
    return mode


def furnish(case: Case, home: Path, work: Path, names: Mapping[str, object]) -> None:
    for name, text in FILES.items():
        (work / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet", "--initial-branch", "main"], cwd=work, check=True)
    for name, text in case.files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(case.fill(text, names), encoding="utf-8")


def _commit(work: Path) -> None:
    who = ["-c", "user.name=tester", "-c", "user.email=tester@example.org"]
    for words in (["add", "."], ["commit", "--quiet", "--message", "all there is"]):
        subprocess.run(["git", *who, *words], cwd=work, check=True)


def environment(case: Case, home: Path, bb: Path, names: Mapping[str, object]) -> dict[str, str]:
    """What a user would have, and nothing of whoever runs the tests but where the sources are."""
    node = FOLDER / "node" / "node_modules" / ".bin"
    trusted = dict.fromkeys(
        ("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CODEX_CA_CERTIFICATE"), str(world.authority())
    )
    return {
        "PATH": f"{node}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "TMPDIR": str(home.parent / "tmp"),
        "BLACKBIRD_HOME": str(bb),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "USER": "tester",
        "PYTHONDONTWRITEBYTECODE": "1",
        **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
        **trusted,
        **{name: case.fill(value, names) for name, value in case.environment.items()},
    }


def drive(words: list[str], work: Path, environ: dict[str, str], stage: Path) -> tuple[int | None, float]:
    began = time.monotonic()
    with (stage / "stdout").open("wb") as out, (stage / "stderr").open("wb") as err:
        child = subprocess.Popen(
            words, cwd=work, env=environ, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
        try:
            code: int | None = child.wait(SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        seconds = time.monotonic() - began
        _end_session(child.pid)
        child.wait()
    return code, seconds


def _end_session(session: int) -> None:
    """End what a client left running; the recorder has a session of its own."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if os.getsid(int(entry.name)) == session:
                    os.kill(int(entry.name), signal.SIGKILL)


def land(home: Home, environ: dict[str, str]) -> dict[str, Any]:
    """Stop the recorder once nothing is under way, and read what it kept."""
    end = time.monotonic() + 10
    while (now := control.status(home)) is not None and now["active_requests"] and time.monotonic() < end:
        time.sleep(0.05)
    process.down(home)
    verified = subprocess.run(
        [str(BLACKBIRD), "trace", "verify"], env=environ, capture_output=True, text=True, check=False
    )
    secrets = [secret.encode() for secret in (KEY, login(), PLANTED)]
    files = [path for path in home.path.rglob("*") if path.is_file()]
    records = trace_view.records(home.trace)
    return {
        "exchanges": trace_view.exchanges(home.trace),
        "events": [record.json for record in records if record.kind == trace_view.HARNESS_EVENT],
        "verified": "" if verified.returncode == 0 else verified.stdout + verified.stderr,
        "leaks": [path.name for path in files if any(secret in path.read_bytes() for secret in secrets)],
    }


def _logs(case: Case, stage: Path) -> dict[str, str]:
    """A client's own logs as text; of a database the rows of the tables that are named behind a #."""
    found: dict[str, str] = {}
    for pattern in case.logs:
        files, _, tables = pattern.partition("#")
        for path in sorted(stage.glob(files)):
            text = _rows(path, tables.split(",")) if tables else path.read_text(encoding="utf-8", errors="replace")
            found[str(path.relative_to(stage))] = text
    return found


def _rows(path: Path, tables: list[str]) -> str:
    lines: list[str] = []
    with contextlib.closing(sqlite3.connect(path)) as database:
        for table in tables:
            found = database.execute(f"SELECT * FROM {table}")  # noqa: S608 - the names are ours
            names = [column[0] for column in found.description]
            rows = (zip(names, map(_cell, row), strict=True) for row in found)
            lines += [json.dumps({"table": table, **dict(row)}) for row in rows]
    return "\n".join(lines)


def _cell(value: Any) -> Any:
    """A cell as JSON has it; some cells are JSON themselves."""
    if isinstance(value, bytes):
        return value.hex()
    with contextlib.suppress(ValueError, TypeError):
        return json.loads(value)
    return value
