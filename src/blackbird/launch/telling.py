"""The lines that a run says on standard error, and what a dry run shows. Plain writes: a console costs a start."""

import contextlib
import os
import shlex
import sys
from typing import Any

import msgspec

from blackbird.agents.plan import Plan, Route
from blackbird.agents.table import Client
from blackbird.config.units import round_duration, round_size
from blackbox.errors import BlackboxError
from blackbox.terminal.output import printable

_MINUTE = 60
_UNKNOWN = "unknown"
#: How many variables the first line names.
_NAMED = 3
_COLOURS = {"✓": "32", "✗": "31", "!": "33"}


def say(mark: str, text: str, *more: str) -> None:
    """A marked line on standard error, and some below it; whoever reads may be gone."""
    lines = "".join(f"{line}\n" for line in (f"{_coloured(mark)} {text}", *(f"  {line}" for line in more)))
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(
            lines.encode(sys.stderr.encoding or "utf-8", "replace").decode(sys.stderr.encoding or "utf-8")
        )
        sys.stderr.flush()


def say_object(told: dict[str, Any]) -> None:
    """One line of JSON on standard error: standard output is the child's."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(msgspec.json.encode(told).decode() + "\n")
        sys.stderr.flush()


def say_error(error: BlackboxError, *, as_json: bool) -> None:
    """What went wrong and what to do about it."""
    if as_json:
        say_object({"code": error.code, "message": printable(error.message), "remedy": printable(error.remedy)})
    else:
        say("✗", printable(error.message), *([printable(error.remedy)] if error.remedy else []))


def show_plan(client: Client, plan: Plan, route: Route, *, as_json: bool) -> None:
    """A dry run's answer, on standard output."""
    if as_json:
        sys.stdout.write(msgspec.json.encode(dry_object(client, plan, route)).decode() + "\n")
    else:
        sys.stdout.write("".join(f"{printable(line)}\n" for line in dry_lines(client, plan, route)))


def _coloured(mark: str) -> str:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stderr.isatty()
    return mark if plain else f"\x1b[1;{_COLOURS[mark]}m{mark}\x1b[0m"


def start_line(client: Client, plan: Plan, route: Route, tokens: int | None = None) -> str:
    """What is set for the child, in one line; a dry run has it in full."""
    names = [name for name in plan.variables if not name.startswith("BLACKBIRD_")]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    way = ", ".join(names[:_NAMED]) + more if names else "arguments"
    pack = "" if tokens is None else f", with a pack of {tokens} tokens"
    notes = "".join(f"; {note}" for note in plan.notes)
    name = client.title if client.programs else "the program"
    return f"Recording {name} in {plan.mode} mode ({way}) as {route.session}/{route.task}{pack}{notes}"


def dry_lines(client: Client, plan: Plan, route: Route) -> list[str]:
    """All that would be set, as a person reads it."""
    lines = [f"mode       {plan.mode}: {client.why}"]
    if plan.mode != client.mode:
        lines = [f"mode       {plan.mode} (by itself {client.mode}: {client.why})"]
    lines += [f"client     {client.title}"]
    lines += [f"session    {route.session}", f"task       {route.task}", f"run        {route.run}"]
    lines += [f"upstream   {name} = {url}" for name, url in plan.upstreams.items()]
    lines += [f"set        {name}={shlex.quote(value)}" for name, value in plan.shown.items()]
    lines += [f"start      {route.masked(shlex.join(plan.arguments))}"]
    return lines + [f"note       {note}" for note in plan.notes]


def dry_object(client: Client, plan: Plan, route: Route) -> dict[str, Any]:
    """The same as an object."""
    return {
        "schema": "run-plan/1",
        "client": client.name,
        "mode": plan.mode,
        "why": client.why,
        "session": route.session,
        "task": route.task,
        "run": route.run,
        "variables": plan.shown,
        "arguments": [route.masked(word) for word in plan.arguments],
        "upstreams": plan.upstreams,
        "notes": plan.notes,
    }


def farewell(told: dict[str, Any]) -> tuple[str, str, list[str]]:
    """The last lines of a run: mark, headline, what else there is."""
    below = []
    if told["masked"]:
        below.append(f"masked     {_counted(told['masked'])}")
    if told["problem"] is not None:
        mark, headline = "!", f"What passed could not be counted: {told['problem']}"
    elif not told["calls"]:
        mark, headline = "!", f"No call of this run was seen in {_time(told)}; blackbird doctor looks for the reason"
    else:
        mark, headline = "✓", _headline(told)
    if told["tunnels"]:
        what = "connection" if told["tunnels"] == 1 else "connections"
        below.append(f"tunnelled  {told['tunnels']} {what} to other hosts, unseen")
    if told["outcome"] is not None and _is_known(told["outcome"]):
        below.append(f"outcome    {_outcome(told['outcome'])}")
    if told["calls"] or told["problem"] is not None:
        below.append(f"recorded   session {told['session']}, task {told['task']}, run {told['run']}")
        below.append(f"           in {told['trace']}")
        below.append(f"next       blackbird session show {told['session']}")
    return mark, headline, below


def _headline(told: dict[str, Any]) -> str:
    calls = f"{told['calls']} call" + ("" if told["calls"] == 1 else "s")
    failed = told["failed"]
    wrong = f" ({sum(failed.values())} failed: {_counted(failed)})" if failed else ""
    still = f", {told['active']} not ended" if told["active"] else ""
    sizes = f"{round_size(told['request_bytes'])} up, {round_size(told['response_bytes'])} down"
    end = f", {told['signal']}" if told["signal"] else f", exit code {told['exit_code']}" if told["exit_code"] else ""
    return f"{calls}{wrong}{still}, {sizes}, {_time(told)}{end}"


def _is_known(outcome: dict[str, Any]) -> bool:
    """Whether it says anything: nobody needs a line to be told that nothing is known."""
    return outcome["status"] != _UNKNOWN or bool(outcome["tests"] or outcome["files"])


def _outcome(outcome: dict[str, Any]) -> str:
    """How it ended, by which evidence; the last test that was seen, and how many files changed."""
    why = f" ({outcome['decided_by']})" if outcome["decided_by"] else ""
    said = [outcome["status"] + why]
    if outcome["tests"]:
        last = outcome["tests"][-1]
        how = last["said"] or {True: "passed", False: "failed", None: "ended, nobody knows how"}[last["ok"]]
        # What decided may be that very line of the tests.
        said += [] if last["said"] and last["said"] in why else [f"tests: {how}"]
    if outcome["files"]:
        said.append(f"{len(outcome['files'])} file" + ("" if len(outcome["files"]) == 1 else "s") + " changed")
    return printable(", ".join(said))


def _time(told: dict[str, Any]) -> str:
    seconds = told["duration_ms"] / 1000
    return f"{seconds:.1f} s" if seconds < _MINUTE else round_duration(seconds)


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} x {name}" if count > 1 else name for name, count in sorted(counts.items()))
