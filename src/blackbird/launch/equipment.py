"""What a child is given besides its way to the recorder: hooks, the context pack, the memory's server."""

import contextlib
import importlib.resources
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import msgspec

from blackbird.agents import hooks, packs, servers
from blackbird.agents.hooks import Handler
from blackbird.agents.merging import Attached
from blackbird.agents.packs import Paper
from blackbird.agents.plan import Plan
from blackbird.agents.table import Client
from blackbird.errors import RecorderMissing
from blackbird.home import Home
from blackbird.launch import settings
from blackbird.recorder import program
from blackbox.disk import write_once
from blackbox.errors import BlackboxError

#: What is started as the memory's server, by the interpreter that runs this.
SERVER = ("-m", "blackbird.doors.stdio")
#: What of a child's environment its server needs, which clients do not pass on by themselves.
_PASSED_ON = ("BLACKBIRD_HOME", "BLACKBIRD_SESSION", "BLACKBIRD_TASK", "BLACKBIRD_RUN", "PYTHONPATH")
#: The files of a run, by their names.
_LEFT = re.compile(r"(?:hooks|pack|agent)-(?P<run>run_[0-9A-Za-z]+)\.(?:json|md)")


class Wishes(msgspec.Struct, frozen=True):
    """What the child is to have."""

    hooks: bool = True
    pack: str | None = None
    mcp: bool = True


class Files:
    """The files of one child, below the folder of the running recorder; a rehearsal names them and writes none."""

    def __init__(self, home: Home, run: str, *, write: bool) -> None:
        self.settings = home.run / f"hooks-{run}.json"
        self.pack = home.run / f"pack-{run}.md"
        self.answer = home.run / f"pack-{run}.json"
        self._write = write
        self._kept: list[Path] = []

    def put(self, path: Path, content: bytes) -> None:
        """Write a file for its owner alone, which goes with the child."""
        if self._write:
            self._kept.append(path)
            write_once(path, content, sync=False)

    def remove(self) -> None:
        """What went with the child goes with it."""
        for path in self._kept:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def equip(client: Client, plan: Plan, environ: Mapping[str, str], wishes: Wishes, files: Files) -> Plan:
    """The plan with all that is wished for and that the client can be given; what cannot be done is noted."""
    handlers: list[Handler] = []
    if wishes.pack:
        plan, handlers = _with_pack(client, plan, environ, wishes.pack, files)
    if wishes.mcp:
        program_ = server({**environ, **plan.variables})
        plan = _with(plan, servers.attached(client, plan.arguments, program_, {**environ, **plan.variables}))
    return _with_hooks(client, plan, environ, handlers, files, tools=wishes.hooks)


def sweep(home: Home, living: Collection[str]) -> None:
    """Throw away what runs left behind that were killed; `living` are those that are under way."""
    for path in home.run.iterdir() if home.run.is_dir() else ():
        found = _LEFT.fullmatch(path.name)
        if found is not None and found["run"] not in living:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


@contextlib.contextmanager
def kept(files: Files) -> Iterator[None]:
    """Files that go with the child."""
    try:
        yield
    finally:
        files.remove()


def server(environ: Mapping[str, str]) -> servers.Program:
    """The memory's server, as a child with this environment starts it."""
    passed = {name: environ[name] for name in _PASSED_ON if environ.get(name)}
    return servers.Program([sys.executable, *SERVER], passed)


def _with_pack(
    client: Client, plan: Plan, environ: Mapping[str, str], text: str, files: Files
) -> tuple[Plan, list[Handler]]:
    way = packs.wanted(client, plan.arguments)
    paper = Paper(text, str(files.pack), str(files.answer))
    try:
        files.put(files.pack, text.encode())
        if way is not None and way.way == "hook":
            files.put(files.answer, packs.answer(text, way.event))
    except BlackboxError as error:
        return _noted(plan, f"{error.message}: no pack"), []
    made, handler = packs.attached(client, plan.arguments, paper, {**environ, **plan.variables})
    plan = _with(plan, msgspec.structs.replace(made, variables={packs.VARIABLE: paper.file} | made.variables))
    if way is None:
        plan = _noted(plan, f"the pack is in the file that {packs.VARIABLE} names")
    return plan, [] if handler is None else [handler]


def _with_hooks(
    client: Client, plan: Plan, environ: Mapping[str, str], handlers: list[Handler], files: Files, *, tools: bool
) -> Plan:
    wanted = hooks.wanted(client, plan.arguments)
    if wanted is None:
        return plan
    variables = {**environ, **plan.variables}
    ours = _hook_program(files) if tools else None
    if wanted.way == "plugin":
        return plan if ours is None else _with(plan, hooks.by_plugin(client, wanted, plan.arguments, ours, variables))
    if ours is not None:
        handlers = [*hooks.of_tools(client, wanted, ours), *handlers]
    if not handlers:
        return plan
    if wanted.way == "overrides":
        return _with(plan, hooks.by_overrides(wanted, plan.arguments, handlers))
    contents = [settings.content(each.value) for each in hooks.given(wanted, plan.arguments)]
    made = hooks.by_settings(client, wanted, plan.arguments, handlers, contents, str(files.settings))
    if made.file is not None:
        try:
            files.put(files.settings, made.file)
        except BlackboxError as error:
            # The agent is to have the settings that its user gave, with hooks or without.
            return _noted(plan, f"{error.message}: no hooks")
    return _with(plan, made)


def _hook_program(files: Files) -> hooks.Program | None:
    try:
        recorder = program.find()
    except RecorderMissing:
        return None
    plugins = importlib.resources.files("blackbird.agents")
    config = files.settings.parent / "recorder.json"
    return hooks.Program(str(recorder.absolute()), str(config), Path(str(plugins)).as_uri())


def _with(plan: Plan, made: Attached) -> Plan:
    return msgspec.structs.replace(
        plan,
        arguments=made.arguments,
        variables=plan.variables | made.variables,
        shown=plan.shown | made.variables,
        notes=[*plan.notes, *made.notes],
    )


def _noted(plan: Plan, note: str) -> Plan:
    return msgspec.structs.replace(plan, notes=[*plan.notes, note])
