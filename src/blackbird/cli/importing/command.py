"""`blackbird import`: what agents have kept themselves, shown before it is taken into the trace."""

import difflib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from blackbird import home as homes
from blackbird.cli.importing import following, showing
from blackbird.cli.importing import round as rounds
from blackbird.cli.importing.round import Found, Interrupt, Wish
from blackbird.cli.reading import read_since
from blackbird.config.load import load
from blackbird.config.resolve import Config
from blackbird.errors import NotFound
from blackbird.home import Home
from blackbird.imports import ledger as ledgers
from blackbird.imports.finding import State
from blackbird.imports.places import PLACES, SPECSTORY
from blackbird.imports.taking import Outcome
from blackbox.errors import UsageError
from blackbox.redaction.rules import ruleset_versions
from blackbox.terminal import output

EXIT_UNREADABLE = 3
EXIT_INTERRUPTED = 130
_CLIENTS = (*PLACES, SPECSTORY.client)
_SHOWN = 5


def command(  # noqa: PLR0913, PLR0917 - one argument an option
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WHAT", help=f"Logs, folders of logs, or clients: {', '.join(_CLIENTS)}."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All that the machine has.")] = False,
    client: Annotated[str | None, typer.Option("--client", metavar="NAME", help="Only logs of this client.")] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Only logs written on since then: 30d or RFC 3339.")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what is added, until Ctrl-C.")] = False,
    no_keep: Annotated[
        bool, typer.Option("--no-keep", help="Leave the logs where they are, and only point at them.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be taken in.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object (schema import/1).")] = False,
) -> None:
    """Take agents' own logs into the trace, redacted. Without arguments: show what this machine has.

    The logs are only read. Each line is taken in once: the same command again takes what was added since. Agents
    delete their logs after some weeks; what is in the trace stays. With --no-keep nothing is copied, and what was
    said can be shown only as long as the agent keeps its log.

    Examples:

      blackbird import

      blackbird import --all

      blackbird import claude-code codex --since 30d

      blackbird import old/session.rlog ~/backup/projects

      blackbird import --all --follow
    """
    if everything and words:
        message = f"--all and `{output.printable(words[0])}` cannot be used together"
        raise UsageError(message, "leave one of them out: --all is all that the machine has")
    wish = _wish(words or [], client, since, keep=not no_keep)
    home = homes.find()
    config = load(home)
    is_meant = everything or follow or bool(wish.clients or wish.paths)
    if dry_run or not is_meant:
        _show_only(home, config, wish, as_json=as_json, asked=words or [])
        return
    interrupt = Interrupt()
    with ledgers.opened(home) as ledger, interrupt.noted():
        found = rounds.find(wish, ledger)
        if everything and not yes and not as_json and _is_terminal() and not _agreed(home, config, found):
            return
        done = rounds.take(home, config, ledger, found, wish, interrupt)
        _tell(home, config, found, done, as_json=as_json)
        if follow and not interrupt.is_set:
            output.stderr().print(_following(found), style="bright_black")
            for more, added in following.rounds_of(home, config, ledger, wish, found, interrupt):
                _tell(home, config, more, added, as_json=as_json)
    if interrupt.is_set and not follow:
        output.stderr().print(output.marked("!", "Interrupted; the same command goes on where this one stopped"))
        raise typer.Exit(EXIT_INTERRUPTED)
    if found.unreadable:
        raise typer.Exit(EXIT_UNREADABLE)
    if not follow:
        _refuse_barren(found)


def _following(found: Found) -> str:
    count = len(found.candidates)
    return f"Following {count} log{'s' if count != 1 else ''}, and new ones as they come; Ctrl-C ends it"


def _refuse_barren(found: Found) -> None:
    """What was named must have a log; with --follow, one may still come."""
    if found.barren:
        told = "; ".join(f"{path}: {why}" for path, why in found.barren.items())
        known = f"logs of {', '.join(_CLIENTS)}, and .bbox and .rlog logs and their companions"
        raise NotFound(output.printable(told), f"name what is one; known are {known}")


def _wish(words: list[str], client: str | None, since: str | None, *, keep: bool) -> Wish:
    clients = [word for word in words if word in _CLIENTS and not Path(word).exists()]
    paths = [Path(word).expanduser() for word in words if word not in clients]
    if client is not None and client not in _CLIENTS:
        raise UsageError(f"--client: `{output.printable(client)}` is no client", _meant(client))
    for path in paths:
        if str(path) in words and _near(str(path)) and not path.exists():
            message = f"`{output.printable(str(path))}` is neither a client nor a file or folder that is there"
            raise UsageError(message, _meant(str(path)))
    if client is not None and not words:
        clients = [client]
    return Wish(tuple(clients), tuple(paths), client, read_since(since), keep)


def _near(word: str) -> list[str]:
    return difflib.get_close_matches(word.lower(), _CLIENTS, n=1)


def _meant(word: str) -> str:
    """Which client may be meant, and which there are."""
    known = f"the clients are {', '.join(_CLIENTS)}"
    near = _near(word)
    return f"did you mean {near[0]}? {known}" if near else known


def _show_only(home: Home, config: Config, wish: Wish, *, as_json: bool, asked: list[str]) -> None:
    found = rounds.find(wish, ledgers.read(home))
    if as_json:
        output.write_json(showing.describe(showing.sums(found.candidates), _facts(home, config, found, True), None))
        _refuse_barren(found)
        return
    console = output.stdout()
    if not found.candidates:
        _refuse_barren(found)
        _tell_absent(found)
        if not found.absent:
            console.print("No logs of agents were found" + ("" if asked else " on this machine"))
        console.print("  blackbird import PATH takes in a log or a folder of them", style="bright_black")
        _warn(found)
        return
    _show_found(console, home, config, found)
    console.print()
    if all(candidate.state is State.TAKEN for candidate in found.candidates):
        console.print("  Nothing is new", style="bright_black")
    else:
        again = " ".join(asked) or "--all"
        console.print(f"  blackbird import {output.printable(again)}  takes them in", style="bright_black")
        if not asked:
            console.print(
                "  blackbird import claude-code  those of one client; a path works, too", style="bright_black"
            )
    _refuse_barren(found)


def _show_found(console: Console, home: Home, config: Config, found: Found) -> None:
    showing.show_found(console, showing.sums(found.candidates))
    console.print()
    console.print(output.printable(f"  into      {home.trace}, for you alone"))
    console.print(output.printable(f"  redacted  by the rules {_policy(config)} before anything is written"))
    _warn(found)


def _tell(home: Home, config: Config, found: Found, done: Outcome, *, as_json: bool) -> None:
    if as_json:
        output.write_json(showing.describe(showing.sums(found.candidates), _facts(home, config, found, False), done))
        return
    if found.candidates or not (found.barren or found.absent):
        showing.show_done(output.stdout(), done)
    _tell_absent(found)
    _warn(found)
    if done.files:
        output.stdout().print("  blackbird sessions lists what there is now", style="bright_black")


def _tell_absent(found: Found) -> None:
    for client, folders in found.absent.items():
        where = ", ".join(str(folder) for folder in folders)
        output.stdout().print(output.printable(f"No logs of {client} were found in {where}"))


def _warn(found: Found) -> None:
    console = output.stderr()
    for problem in found.unreadable[:_SHOWN]:
        console.print(output.marked("!", output.printable(problem)))
    if len(found.unreadable) > _SHOWN:
        console.print(f"  and {len(found.unreadable) - _SHOWN} more that cannot be read")
    unknown = [path for path in found.unknown if path not in found.barren]
    for path in unknown[:_SHOWN]:
        console.print(output.marked("!", output.printable(f"{path}: this is no log that is known here")))
    if len(unknown) > _SHOWN:
        console.print(f"  and {len(unknown) - _SHOWN} more that are none")


def _facts(home: Home, config: Config, found: Found, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "trace": str(home.trace),
        "policy": _policy(config),
        "unreadable": found.unreadable,
        "unknown": [str(path) for path in found.unknown],
    }


def _policy(config: Config) -> str:
    pinned = config["redaction.ruleset_version"]
    return str(pinned) if pinned else ruleset_versions()[-1]


def _agreed(home: Home, config: Config, found: Found) -> bool:
    _show_found(output.stdout(), home, config, found)
    return typer.confirm("Take them in?", default=True)


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()
