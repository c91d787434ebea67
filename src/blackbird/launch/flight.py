"""One run: the recorder started if need be, the run registered, the child started and waited for, the end told."""

import collections
import contextlib
import os
import signal
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from blackbird.agents import address as addresses
from blackbird.agents import plan as plans
from blackbird.agents import table
from blackbird.agents.plan import Draft, Plan, Route, Situation
from blackbird.agents.table import Client, Mode
from blackbird.errors import RecorderDown, RecorderError
from blackbird.home import Home, working_folder
from blackbird.launch import briefing, equipment, settings, telling
from blackbird.launch.child import Child, Ended, NotStarted, locate
from blackbird.launch.context import Context
from blackbird.launch.equipment import Files, Wishes
from blackbird.launch.watch import Watch
from blackbird.recorder import control, users
from blackbird.recorder.users import User

#: How long the end of a run waits for what is still being found out about it.
_CONTEXT_SECONDS = 1.0
#: How long it waits for git to say what is different.
_GIT_SECONDS = 2.0
#: How long it waits for a recorder that is being started anew.
_END_SECONDS = 5.0
_PAUSE_SECONDS = 0.05
#: What stands for the pack in a rehearsal, which asks the memory for nothing.
_REHEARSED = "(the context pack)"
_NEW = {"session": "sess_…", "task": "task_…", "run": "run_…"}


class Order(msgspec.Struct, frozen=True):
    """What was asked for."""

    command: list[str]
    session: str | None = None
    task: str | None = None
    describe: str | None = None
    goal: str | None = None
    upstreams: dict[str, str] = {}
    mode: Mode | None = None
    hooks: bool = True
    pack: bool = True
    mcp: bool = True
    quiet: bool = False
    as_json: bool = False


class Recorder(msgspec.Struct, frozen=True):
    """What has to be known of the recorder, from the configuration it was started with."""

    address: str
    token: str | None
    upstreams: dict[str, str]
    hosts: frozenset[str] = frozenset()
    segment: int = 1
    hooks: bool = True


class Prepared(msgspec.Struct, frozen=True):
    """What holds before there is a run."""

    home: Home
    recorder: Recorder
    client: Client
    draft: Draft
    environ: dict[str, str]
    native_session: str | None


def prepare(home: Home, order: Order, environ: Mapping[str, str], *, start: bool) -> Prepared:
    """Find the program and the recorder (started if asked for), and decide how the child gets there."""
    locate(order.command[0], environ)
    recorder = _running(home, start=start)
    client = table.find(order.command[0]) or table.other()
    situation = Situation(
        recorder.address,
        recorder.upstreams,
        {**settings.dotenv(client, Path(working_folder() or "/")), **environ},
        settings.find(client, environ),
        order.upstreams,
        _inherited(home, environ.get("BLACKBIRD_RUN")),
        order.mode,
        recorder.hosts,
    )
    native = str(uuid.uuid4()) if plans.takes_session(client, order.command[1:]) else None
    return Prepared(home, recorder, client, plans.draft(client, situation), dict(environ), native)


def rehearse(home: Home, order: Order, environ: Mapping[str, str]) -> tuple[Client, Plan, Route]:
    """The plan as it would be; nothing is started, registered or made."""
    order = _with_memory(home, order)
    ready = prepare(home, order, environ, start=False)
    given = {"session": order.session, "task": order.task, "run": None}
    ids = {key: given[key] or new for key, new in _NEW.items()}
    route = Route(ready.recorder.address, ready.recorder.token, **ids)
    bundle = str(home.path / "ca" / "bundle-….pem")
    plan = plans.fill(
        ready.draft, route, order.command, environ, bundle=bundle, native_session=ready.native_session and "UUID"
    )
    wishes = _wishes(ready, order, _REHEARSED if order.pack else None)
    plan = equipment.equip(ready.client, plan, environ, wishes, Files(home, "RUN", write=False))
    return ready.client, plan, route


def fly(home: Home, order: Order, environ: Mapping[str, str]) -> Ended:
    """Run the command to its end, recorded."""
    order = _with_memory(home, order)
    ready = prepare(home, order, environ, start=True)
    bundle = _bundle(home, environ) if ready.draft.mode == "forward" else None
    watch = Watch(home.trace, ready.recorder.segment)
    route = _register(ready, order)
    told = _Statements(home, route)
    if order.goal is not None:
        told.state("goal", {"text": order.goal})
    if order.describe is not None:
        told.state("run.describe", {"text": order.describe})
    brief = _brief(home, route, order, told.last)
    plan = plans.fill(ready.draft, route, order.command, environ, bundle=bundle, native_session=ready.native_session)
    files = Files(home, route.run, write=True)
    wishes = _wishes(ready, order, None if brief.pack is None else brief.pack.text)
    context = Context(order.command[0], ready.client.version, environ, lambda data: told.state("run.context", data))
    began = time.monotonic()
    try:
        user = User(route.run, route.session, Path(order.command[0]).name, os.getpid())
        with users.noted(home, user), equipment.kept(files):
            equipment.sweep(home, {each.run for each in users.users(home)})
            plan = equipment.equip(ready.client, plan, environ, wishes, files)
            _say_start(ready, plan, route, order, brief)
            if brief.pack is not None:
                told.state("run.pack", {"tokens": brief.pack.tokens, "state": brief.pack.state})
            ended = _start_and_wait(plan, {**environ, **plan.variables}, watch, context, route.run)
    except NotStarted as error:
        context.finish(0)
        told.state("run.end", {"exit_code": error.exit_code, "duration_ms": 0, "started": False})
        raise
    duration = round((time.monotonic() - began) * 1000)
    context.finish(_CONTEXT_SECONDS)
    changes = context.changes(_GIT_SECONDS)
    if changes is not None:
        told.state("run.changes", changes)
    how = {"exit_code": ended.code} if ended.signal is None else {"signal": signal.Signals(ended.signal).name}
    # A recorder that died has left the number of its supervisor, which starts it anew; one that was stopped has not.
    patience = _END_SECONDS if home.pid_file.exists() else 0.0
    watch.finish(told.state("run.end", {**how, "duration_ms": duration}, patience))
    if not order.quiet:
        summed = summary(home, route, ended, duration, watch)
        summed["pack"] = None if brief.pack is None else {"tokens": brief.pack.tokens}
        summed["outcome"] = briefing.outcome(home, route.run, told.last)
        _say_farewell(summed, told.problem, as_json=order.as_json)
    return ended


def _with_memory(home: Home, order: Order) -> Order:
    """The order as the settings let it be: without the memory if they say so."""
    wanted = order.pack and briefing.is_wanted(home)
    return msgspec.structs.replace(order, pack=wanted, mcp=wanted and order.mcp)


def _brief(home: Home, route: Route, order: Order, after: int) -> briefing.Told:
    if not order.pack:
        return briefing.Told()
    return briefing.pack(home, briefing.Asked(route.session, route.task, order.describe, working_folder(), after))


def _wishes(ready: Prepared, order: Order, text: str | None) -> Wishes:
    return Wishes(hooks=order.hooks and ready.recorder.hooks, pack=text, mcp=order.mcp)


def _say_start(ready: Prepared, plan: Plan, route: Route, order: Order, brief: briefing.Told) -> None:
    """What is set; that there is no pack, and why, is said whatever else is not."""
    if brief.problem is not None:
        telling.say("!", f"No context pack: {brief.problem}")
    if not (order.quiet or order.as_json):
        tokens = None if brief.pack is None else brief.pack.tokens
        telling.say("✓", telling.start_line(ready.client, plan, route, tokens))


def _start_and_wait(plan: Plan, environ: dict[str, str], watch: Watch, context: Context, run: str) -> Ended:
    with Child() as child:
        child.start(locate(plan.arguments[0], environ), plan.arguments, environ)
        # Signals are for this thread: one that another took would wait until the child has ended.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            watch.start(run)
            context.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return child.wait()


class _Statements:
    """States events of one run; a recorder that is away meanwhile is not the child's affair."""

    def __init__(self, home: Home, route: Route) -> None:
        self._home = home
        self._ids = {"session": route.session, "task": route.task, "run": route.run}
        self.problem: str | None = None
        #: The record of what was stated last.
        self.last = 0

    def state(self, event: str, data: dict[str, Any], patience: float = 0.0) -> int | None:
        """The sequence of the record, or nothing if it could not be stated within so many seconds."""
        end = time.monotonic() + patience
        asked = {"op": "event", "event": event, **self._ids, "data": data}
        while True:
            try:
                sequence: int = control.request(self._home, asked)["sequence"]
            except RecorderDown as error:
                # Its supervisor may be about to start it anew.
                if time.monotonic() < end:
                    time.sleep(_PAUSE_SECONDS)
                    continue
                self.problem = error.message
            except RecorderError as error:
                self.problem = error.message
            else:
                self.last = sequence
                return sequence
            return None


def summary(home: Home, route: Route, ended: Ended, duration: int, watch: Watch) -> dict[str, Any]:
    """How a run went, as an object."""
    tally = watch.tally
    return {
        "schema": "run/1",
        "session": route.session,
        "task": route.task,
        "run": route.run,
        "exit_code": ended.code,
        "signal": None if ended.signal is None else signal.Signals(ended.signal).name,
        "duration_ms": duration,
        "calls": 0 if tally is None else tally.calls,
        "active": 0 if tally is None else tally.active,
        "failed": dict(sorted(collections.Counter(watch.failed.values()).items())),
        "request_bytes": 0 if tally is None else tally.request_bytes,
        "response_bytes": 0 if tally is None else tally.response_bytes,
        "masked": {} if tally is None else dict(sorted(tally.redactions.items())),
        "tunnels": watch.tunnels,
        "trace": str(home.trace),
        "problem": watch.problem,
    }


def _say_farewell(told: dict[str, Any], problem: str | None, *, as_json: bool) -> None:
    if as_json:
        telling.say_object(told)
        return
    mark, headline, below = telling.farewell(told)
    if problem is not None:
        mark = "!"
        below.append(f"trouble    {problem}")
    telling.say(mark, headline, *below)


def _running(home: Home, *, start: bool) -> Recorder:
    """The recorder that runs, or one that is started now; a dry run asks only how it would be."""
    now = control.status(home)
    if now is not None:
        with contextlib.suppress(OSError, msgspec.MsgspecError, KeyError):
            about = msgspec.json.decode(home.recorder_json.read_bytes(), type=dict[str, Any])
            hosts = frozenset(authority.rpartition(":")[0] for authority in about.get("intercept", {}))
            address = addresses.connectable(now["listen"])
            asks = about.get("hooks", True) is True
            return Recorder(address, about["token"], about["upstreams"], hosts, now["segment"] or 1, asks)
    # Imported here: they take longer than the rest, and are not needed while a recorder runs.
    from blackbird.config.load import load  # noqa: PLC0415
    from blackbird.recorder import process  # noqa: PLC0415

    config = load(home)
    listen = process.up(home, config).listen if start else config["proxy.listen"]
    started = control.status(home) or {}
    return Recorder(
        addresses.connectable(listen),
        config["proxy.token"],
        config.upstreams,
        segment=started.get("segment") or 1,
        hooks=config["proxy.hooks"],
    )


def _inherited(home: Home, run: str | None) -> dict[str, str]:
    """The upstreams of the run that this one was started in: its base URLs lead to the recorder by now."""
    if run is None:
        return {}
    found: dict[str, str] = {}
    with contextlib.suppress(OSError, UnicodeDecodeError):
        for line in home.runs.read_text(encoding="utf-8").splitlines():
            if run in line:
                with contextlib.suppress(msgspec.DecodeError, msgspec.ValidationError):
                    kept = msgspec.json.decode(line, type=_Kept)
                    found = kept.upstreams if kept.run == run else found
    return found


class _Kept(msgspec.Struct):
    """A run as the recorder keeps it."""

    run: str
    upstreams: dict[str, str] = {}


def _bundle(home: Home, environ: Mapping[str, str]) -> str:
    from blackbird.authority import bundle, ca  # noqa: PLC0415 - only forward mode needs them

    ca.ensure(home)
    return str(bundle.bundle(home, environ))


def _register(ready: Prepared, order: Order) -> Route:
    data = {
        "client": None if ready.client.name == table.OTHER else ready.client.name,
        "program": Path(order.command[0]).name,
        "mode": ready.draft.mode,
        "cwd": working_folder(),
        "native_session": ready.native_session,
        "parent_run": ready.environ.get("BLACKBIRD_RUN"),
    }
    asked: dict[str, Any] = {
        "op": "register",
        "session": order.session,
        "task": order.task,
        "run": None,
        "data": data,
    }
    if ready.draft.upstreams:
        asked["upstreams"] = ready.draft.upstreams
    run = control.request(ready.home, asked)
    return Route(ready.recorder.address, ready.recorder.token, run["session"], run["task"], run["run"])
