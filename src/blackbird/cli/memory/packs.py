"""A pack explained: for every line why it is there, what was left out and why, and who took how many tokens."""

from collections.abc import Iterator

from blackbird.cli.memory.lines import INDENT, Line, block, line
from blackbird.pack.model import LeftOut, Pack, Section
from blackbird.pack.model import Line as Told

_GREY = "bright_black"


def nothing(pack: Pack) -> str:
    """Why a pack is empty, and where to look then."""
    told = "Nothing is known that this task should be told"
    if pack.left_out:
        return f"{told}: all was left out"
    return f"{told}: no session of its project left anything yet. blackbird sessions lists all that there are"


def explained(pack: Pack) -> Iterator[Line]:
    """All of it."""
    of = f"session {pack.session}" if pack.session else "no session"
    whose = f"{of}, task {pack.task}" if pack.task else of
    yield line(
        (f"{pack.tokens} of {pack.budget} tokens", "bold"), (f", counted by {pack.counter}, for {whose}", _GREY)
    )
    if not pack.text:
        yield line(nothing(pack))
    else:
        yield line((f"{pack.frame} of them for the tag and what the agent is told about the pack", _GREY))
    for section in pack.sections:
        yield ()
        yield from _section(section)
    yield from _left_out(pack.left_out)
    yield ()
    yield line((f"made by {pack.builder} from state {pack.state}", _GREY))


def _section(section: Section) -> Iterator[Line]:
    sizes = f"{section.tokens} tokens; {section.share} were given to it, {section.cap} is its most"
    yield line((section.title, "bold cyan"), (f"  {sizes}", _GREY))
    for told in section.lines:
        yield from _line(told)


def _line(told: Told) -> Iterator[Line]:
    ids = " ".join(told.ids)
    yield line((f"{told.tokens:>4} ", _GREY), told.text)
    for bullet in told.bullets:
        yield line(INDENT, "- ", bullet)
    other = f"; from session {told.session}" if told.session is not None else ""
    yield from block(f" {told.why}{other}; {ids}", _GREY)


def _left_out(left_out: tuple[LeftOut, ...]) -> Iterator[Line]:
    for number, each in enumerate(left_out):
        if number == 0:
            yield ()
            yield line(("Left out", "bold cyan"), (f"  {len(left_out)}", _GREY))
        yield line((f"{each.id or '–'}  ", _GREY), (f"{each.section.replace('_', ' ')}  ", "cyan"), each.title)
        yield from block(each.why, _GREY)
