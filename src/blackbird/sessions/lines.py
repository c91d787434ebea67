"""One line for what happened, as cells with their colours: a request that ended, a message of a WebSocket."""

from collections.abc import Sequence
from typing import NamedTuple

from blackbird.config.units import round_size
from blackbird.exchange.clock import to_rfc3339
from blackbird.exchange.exchange import Exchange, State
from blackbird.exchange.view import milliseconds
from blackbird.sessions.links import Agent
from blackbird.sessions.live import Ended, Event, Message, Opened
from blackbird.sessions.view import owner_of
from blackbird.trace.records import Direction

#: Narrower terminals show the model or the path, and not the client.
WIDE = 120
_OWNER, _AGENT, _WHAT = 20, 16, 40
_SIZE, _DURATION = 9, 8
_LEAST_WHAT = 12
_NOTES = 20


class Cell(NamedTuple):
    """A piece of a line, and its colour."""

    text: str
    style: str = ""


class _Line(NamedTuple):
    wall: int | None
    exchange: Exchange
    agent: Agent | None
    what: str
    status: Cell
    sent: str
    received: str
    took: str
    notes: Sequence[Cell] = ()


def of_event(event: Event, width: int | None) -> list[Cell]:
    """A line for a terminal of this width; without one, nothing is cut."""
    if isinstance(event, Ended):
        return _cells(_of_end(event, is_wide=_is_wide(width)), width)
    if isinstance(event, Opened):
        what = _target(event.exchange)
        notes = [Cell("websocket open", "cyan")]
        return _cells(
            _Line(event.exchange.started_ns, event.exchange, event.agent, what, _status(101), "", "", "", notes),
            width,
        )
    return _cells(_of_message(event), width)


def of_start(exchange: Exchange, agent: Agent | None, width: int | None) -> list[Cell]:
    """A line for a request that is under way."""
    notes = [Cell("under way", "cyan")]
    line = _Line(exchange.started_ns, exchange, agent, _target(exchange), Cell("…", "cyan"), "", "", "", notes)
    return _cells(line, width)


def _of_end(event: Ended, *, is_wide: bool) -> _Line:
    exchange = event.exchange
    what = _target(exchange)
    if event.model is not None and event.model not in what:
        what = f"{what}  {event.model}" if is_wide else event.model
    began, took = exchange.started_ns, exchange.timings.total_us
    ended = began + took * 1000 if began is not None and took is not None else began
    return _Line(
        ended,
        exchange,
        event.agent,
        what,
        _status(exchange.status),
        round_size(exchange.request_body.size),
        round_size(exchange.response_body.size),
        milliseconds(took),
        _notes(event),
    )


def _of_message(event: Message) -> _Line:
    size = round_size(event.bytes)
    if event.direction is Direction.REQUEST:
        what = f"→ message {event.number}" + (f"  {event.model}" if event.model is not None else "")
        return _Line(event.wall, event.exchange, event.agent, what, Cell("ws", "cyan"), size, "", "")
    plural = "s" if event.messages != 1 else ""
    what = f"← answer {event.number}, {event.messages} message{plural}"
    took = milliseconds(event.duration_us)
    return _Line(event.wall, event.exchange, event.agent, what, Cell("ws", "cyan"), "", size, took)


def _notes(event: Ended) -> list[Cell]:
    exchange = event.exchange
    notes = []
    if event.attempt > 1:
        notes.append(Cell(f"attempt {event.attempt}", "yellow"))
    if exchange.error is not None:
        notes.append(Cell("left", "") if exchange.is_left else Cell(exchange.error.code, "red"))
    elif exchange.state is State.INTERRUPTED:
        notes.append(Cell("interrupted", "yellow"))
    if event.masked:
        notes.append(Cell(f"{event.masked} masked", "magenta"))
    if exchange.gaps:
        notes.append(Cell("not all recorded", "yellow"))
    return notes


def _target(exchange: Exchange) -> str:
    path = (exchange.path or "?").partition("?")[0] or "?"
    return f"{exchange.method or '?'} {path}"


def _status(status: int | None) -> Cell:
    if status is None:
        return Cell("-", "red")
    return Cell(str(status), "green" if status < 300 else "yellow" if status < 400 else "red")


def _is_wide(width: int | None) -> bool:
    return width is None or width >= WIDE


def _cells(line: _Line, width: int | None) -> list[Cell]:
    time = (to_rfc3339(line.wall) if line.wall is not None else None) or "?"
    owner, agent = owner_of(line.exchange), line.agent.name if line.agent is not None else "-"
    before = [Cell(time[11:19].ljust(8), "bright_black"), Cell(_fit(owner, _OWNER, width))]
    if _is_wide(width):
        before.append(Cell(_fit(agent, _AGENT, width), "bright_black"))
    after = [Cell(line.status.text.rjust(3), line.status.style)]
    after += [Cell(line.sent.rjust(_SIZE))] if _is_wide(width) else []
    after += [Cell(line.received.rjust(_SIZE)), Cell(line.took.rjust(_DURATION))]
    room = _WHAT
    if width is not None:
        # A wide terminal keeps a place for notes, so that the lines with and without them stand in line.
        notes = max(_NOTES if _is_wide(width) else 0, _length(line.notes))
        room = max(_LEAST_WHAT, width - _length(before) - _length(after) - notes)
    return [*before, Cell(_fit(line.what, room, width)), *after, *line.notes]


def _length(cells: Sequence[Cell]) -> int:
    return sum(len(cell.text) + 2 for cell in cells)


def _fit(text: str, room: int, width: int | None) -> str:
    """Text of this length; without a width, one that is longer stays whole."""
    if width is not None and len(text) > room:
        text = text[: room - 1] + "…"
    return text.ljust(room)
