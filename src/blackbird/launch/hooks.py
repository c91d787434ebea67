"""Hooks for one child: added to its plan, with a file for it if the user's own settings came from one."""

import contextlib
import importlib.resources
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from blackbird.agents import hooks
from blackbird.agents.hooks import Attached, Program
from blackbird.agents.plan import Plan
from blackbird.agents.table import Client
from blackbird.errors import RecorderMissing
from blackbird.home import Home
from blackbird.launch import settings
from blackbird.recorder import program
from blackbox.disk import write_once
from blackbox.errors import BlackboxError


def attach(
    client: Client, plan: Plan, environ: Mapping[str, str], home: Home, run: str, *, write: bool
) -> tuple[Plan, Path | None]:
    """The plan with the client's hooks, if it has any, and the file that it needs; not written, it is only named."""
    wanted = hooks.wanted(client, plan.arguments)
    if wanted is None:
        return plan, None
    try:
        recorder = program.find()
    except RecorderMissing:
        return plan, None
    plugins = importlib.resources.files("blackbird.agents")
    ours = Program(str(recorder.absolute()), str(home.recorder_json), Path(str(plugins)).as_uri())
    path = home.run / f"hooks-{run}.json"
    if wanted.way == "settings":
        contents = [settings.content(each.value) for each in hooks.given(wanted, plan.arguments)]
        made = hooks.by_settings(client, wanted, plan.arguments, ours, contents, str(path))
    elif wanted.way == "overrides":
        made = hooks.by_overrides(client, wanted, plan.arguments, ours)
    else:
        made = hooks.by_plugin(client, wanted, plan.arguments, ours, {**environ, **plan.variables})
    if made.file is None:
        return _with(plan, made), None
    if write:
        try:
            write_once(path, made.file, sync=False)
        except BlackboxError as error:
            # The agent is to have the settings that its user gave, with hooks or without.
            return msgspec.structs.replace(plan, notes=[*plan.notes, f"{error.message}: no hooks"]), None
    return _with(plan, made), path


def _with(plan: Plan, made: Attached) -> Plan:
    return msgspec.structs.replace(
        plan,
        arguments=made.arguments,
        variables=plan.variables | made.variables,
        shown=plan.shown | made.variables,
        notes=[*plan.notes, *made.notes],
    )


@contextlib.contextmanager
def kept(path: Path | None) -> Iterator[None]:
    """A file that goes with the child."""
    try:
        yield
    finally:
        if path is not None:
            path.unlink(missing_ok=True)
