"""What was asked of `run`: checked, and carried out."""

import os
import re

import msgspec

from blackbird import home as homes
from blackbird.agents.table import Mode
from blackbird.launch import flight, telling
from blackbird.launch.child import NotStarted, end_like
from blackbird.launch.flight import Order
from blackbird.launch.ids import check_id
from blackbox.errors import BlackboxError, UsageError
from blackbox.terminal.output import printable

EXIT_OWN = 125
_CREDENTIALS = re.compile(r"//[^/\s]*@")
_UPSTREAM = re.compile(r"([a-z0-9][a-z0-9-]{0,63})=(https?://\S+)")


class Words(msgspec.Struct, frozen=True):
    """The options as they were given, and the command behind them."""

    command: list[str]
    session: str | None = None
    task: str | None = None
    describe: str | None = None
    goal: str | None = None
    upstream: list[str] = []
    forward: bool = False
    reverse: bool = False
    no_hooks: bool = False
    no_pack: bool = False
    no_mcp: bool = False
    dry_run: bool = False
    quiet: bool = False
    as_json: bool = False


def perform(words: Words) -> int:
    """Run the command and end as it ends; comes back, with an exit code, only if it was not started."""
    try:
        order = _order(words)
        home = homes.find()
        if words.dry_run:
            telling.show_plan(*flight.rehearse(home, order, os.environ), as_json=words.as_json)
            return 0
        ended = flight.fly(home, order, os.environ)
    except BlackboxError as error:
        telling.say_error(error, as_json=words.as_json)
        return error.exit_code if isinstance(error, NotStarted) else EXIT_OWN
    return end_like(ended)


def _order(words: Words) -> Order:
    session = words.session if words.session is not None else os.environ.get("BLACKBIRD_SESSION")
    return Order(
        command=words.command,
        session=check_id("--session", session),
        task=check_id("--task", words.task),
        describe=words.describe,
        goal=words.goal,
        upstreams=_upstreams(words.upstream),
        mode=_mode(forward=words.forward, reverse=words.reverse),
        hooks=not words.no_hooks,
        pack=not words.no_pack,
        mcp=not words.no_mcp,
        quiet=words.quiet,
        as_json=words.as_json,
    )


def _mode(*, forward: bool, reverse: bool) -> Mode | None:
    if forward and reverse:
        raise UsageError("--forward and --reverse exclude each other", "choose one, or none of them")
    return "forward" if forward else "reverse" if reverse else None


def _upstreams(words: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        match = _UPSTREAM.fullmatch(word)
        if match is None:
            raise UsageError(
                f"--upstream: `{printable(_CREDENTIALS.sub('//…@', word))}` is not NAME=URL",
                "write it as in --upstream anthropic=https://gateway.example/claude",
            )
        found[match[1]] = match[2].rstrip("/")
    return found
