"""`blackbird status`: whether a recorder runs, what it is doing, and whether anything was lost."""

import datetime as dt
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from blackbird import home as homes
from blackbird.cli.arguments import Json
from blackbird.cli.reading import live_instance
from blackbird.config.units import round_duration, round_size
from blackbird.exchange import catalog
from blackbird.exchange.catalog import Selection
from blackbird.exchange.exchange import State
from blackbird.home import Home
from blackbird.recorder import control
from blackbird.trace.folder import Trace
from blackbox.terminal import output

EXIT_DOWN = 1
_NEXT = "blackbird run -- AGENT runs an agent, recorded; blackbird up starts the recorder alone"
#: How many of the newest requests are looked at for some that never came to their end.
_LOOKED_AT = 100


def command(as_json: Json = False) -> None:
    """Show whether a recorder runs, what it is doing, and whether anything was lost.

    Exit codes: 0 it runs, 1 it does not.

    Example:

      blackbird status
    """
    home = homes.find()
    running = control.status(home)
    interrupted = count_interrupted(home, running)
    if as_json:
        output.write_json({**describe(home, running), "interrupted_requests": interrupted})
    else:
        console = output.stdout()
        show(console, home, running)
        if interrupted:
            told = f"{interrupted} of the last {_LOOKED_AT} requests were interrupted: blackbird requests shows them"
            console.print(output.marked("!", told))
        if running is None:
            console.print(f"  {'next':<10} {_NEXT}")
    if running is None:
        raise typer.Exit(EXIT_DOWN)


def describe(home: Home, running: dict[str, Any] | None) -> dict[str, Any]:
    """The status as an object."""
    about = {"running": running is not None, "home": str(home.path), "trace_bytes": trace_bytes(home.trace)}
    return {"schema": "status/1", **about, **(running or {})}


def show(console: Console, home: Home, running: dict[str, Any] | None) -> None:
    """The status for people; what was lost comes first."""
    if running is None:
        console.print(output.marked("!", "No recorder runs: nothing is being recorded"))
    else:
        if running.get("lost_records"):
            console.print(output.marked("✗", _lost(running)))
        if running.get("dropped_chunks"):
            size = round_size(running.get("dropped_bytes", 0))
            console.print(output.marked("!", f"{size} of bodies were left out: the queue was full (proxy.lossless)"))
        console.print(output.marked("✓", f"Recording on http://{running['listen']}"))
        for name, text in _lines(running, dt.datetime.now(dt.UTC)):
            console.print(f"  {name:<10} {output.printable(text)}")
    console.print(f"  {'trace':<10} {round_size(trace_bytes(home.trace))} in {output.printable(str(home.trace))}")


def count_interrupted(home: Home, running: dict[str, Any] | None) -> int:
    """How many of the newest requests lost their recorder before they ended."""
    newest = catalog.recent(Trace(home.trace), Selection(limit=_LOOKED_AT), live_instance(running))
    return sum(exchange.state is State.INTERRUPTED for exchange in newest.exchanges)


def trace_bytes(folder: Path) -> int:
    """What the trace takes on disk; a file that goes while it is measured counts as nothing."""
    total = 0
    if folder.is_dir():
        for path in folder.iterdir():
            try:
                total += path.stat().st_size
            except FileNotFoundError:
                continue
    return total


def _lost(running: dict[str, Any]) -> str:
    size = round_size(running.get("lost_bytes", 0))
    why = running.get("last_error")
    return f"{running['lost_records']} records ({size}) could not be written and are lost" + (
        f": {why}" if why else ""
    )


def _trouble(running: dict[str, Any]) -> str:
    error = running.get("last_error")
    if not error:
        return ""
    return f"{error}" + (" (over now)" if running.get("recording", False) else "")


def _lines(running: dict[str, Any], now: dt.datetime) -> list[tuple[str, str]]:
    """What there is to tell, as the recorder says it; what it does not say is left out."""
    supervisor = running.get("supervisor_pid")
    process = f"{running.get('pid')}" + (
        f", supervised by {supervisor}" if supervisor else ", its supervisor is gone: `blackbird down`, then `up`"
    )
    restarts = running.get("restarts", 0)
    last, synced = running.get("last_sequence", 0), running.get("synced_sequence", 0)
    lines = [
        ("process", process + (f", restarted {restarts} times" if restarts else "")),
        ("since", _since(running.get("started"), now)),
        ("mode", str(running.get("mode", ""))),
        ("redaction", str(running.get("policy", ""))),
        ("requests", f"{running.get('requests', 0)}, {running.get('active_requests', 0)} under way"),
        ("records", f"{last}, safe on disk up to {synced}"),
        ("waiting", round_size(running.get("queue_bytes", 0))),
        ("trouble", _trouble(running)),
    ]
    return [(name, text) for name, text in lines if text]


def _since(started: Any, now: dt.datetime) -> str:
    try:
        then = dt.datetime.fromisoformat(started)
    except (TypeError, ValueError):
        return ""
    return f"{started} ({round_duration((now - then).total_seconds())})"
