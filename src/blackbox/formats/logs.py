"""A session as a log that our own parser reads: bbox/1 or rlog/1 with the escape rule, or the compact form.

The compact form is a log without spaces around prefixes and arrows, one line an event, its results shortened.
"""

import msgspec

from blackbox.errors import UsageError
from blackbox.events import calls, comments, lifecycle
from blackbox.events.build import Event
from blackbox.events.comments import Remark
from blackbox.events.messages import Message, Thinking, Todos, parse_todos
from blackbox.events.rewrite import Call, with_result
from blackbox.formats import jsonlines, outcomes, shortkeys
from blackbox.formats.flight import Entry, Flight, Loss, Losses, ordered
from blackbox.syntax.header import REQUIRED, HeaderValue
from blackbox.syntax.kinds import PREFIXES, Kind, classify
from blackbox.syntax.parts import Parts
from blackbox.syntax.results import Result, ResultKind, parse_result
from blackbox.write import spelling
from blackbox.write.header import spell_fields
from blackbox.write.render import render_event

_UNKNOWN = "unknown"
_SPACED = frozenset({Kind.USER, Kind.AGENT, Kind.THINKING, Kind.TODOS, Kind.OBSERVATION, Kind.RECALL, Kind.QUESTION})
#: Characters without meaning: one that does not occur in a text stands for its line feeds until the line is written.
_STAND_INS = range(0xF0000, 0xFFFFE)


def to_log(flight: Flight, form: str) -> tuple[str, list[Loss]]:
    """The log, whose `format` is `form` (`bbox` or `rlog`), and what of the session it could not say."""
    losses = Losses()
    header = complete_header(flight.header, form, losses)
    lines = [render(entry, losses) + "\n" for entry in flight.entries]
    return spell_fields(header) + "".join(lines), losses.found


def complete_header(fields: dict[str, HeaderValue], form: str, losses: Losses) -> dict[str, HeaderValue]:
    """The fields with those that every log needs."""
    given = fields.get("format")
    is_kept = isinstance(given, str) and given.partition("/")[0] == form
    header: dict[str, HeaderValue] = {"format": given if is_kept and given is not None else f"{form}/1"}
    for key in REQUIRED:
        if key != "format":
            losses.add("made-up-fields", count=not fields.get(key))
            header[key] = fields.get(key) or _UNKNOWN
    return header | {key: value for key, value in fields.items() if key not in REQUIRED}


def render(entry: Entry, losses: Losses) -> str:
    """The lines of an entry. An event that has none, such as a call without a name, is kept as a remark."""
    try:
        return render_event(entry.event, ordered(entry.meta))
    except UsageError:
        losses.add("no-line")
        return render_event(Remark(jsonlines.dump(shortkeys.encode(entry))))


def to_compact(flight: Flight) -> tuple[str, list[Loss]]:
    """The compact log, and what it could not carry."""
    losses = Losses()
    form = str(flight.header.get("format", "")).partition("/")[0]
    header = complete_header(flight.header, form if form in ("bbox", "rlog") else "bbox", losses)
    lines = [compact_line(entry, losses) + "\n" for entry in flight.entries]
    # Not even the blank line below the header.
    return spell_fields(header)[:-1] + "".join(lines), losses.found


def compact_line(entry: Entry, losses: Losses) -> str:
    """The one line of an entry."""
    event = shorten(entry, losses)
    if isinstance(event, Todos):
        leading, trailing = spelling.meta_words(ordered(entry.meta))
        first = spelling.guard_run(spelling.keep_start(_one_line(spelling.todos(event))))
        return " ".join([PREFIXES[Kind.TODOS] + first, *leading, *trailing])
    name = _text_field(event)
    text = getattr(event, name) if name else ""
    if "\n" not in text:
        return tighten(render(Entry(event, entry.meta), losses))
    stand_in = next(chr(code) for code in _STAND_INS if chr(code) not in text)
    joined = msgspec.structs.replace(event, **{name: text.replace("\n", stand_in)})
    return tighten(render(Entry(joined, entry.meta), losses)).replace(stand_in, "\\n")


def shorten(entry: Entry, losses: Losses) -> Event:
    """The event as far as the compact form carries it."""
    event = entry.event
    if isinstance(event, Todos):
        read = parse_todos(_one_line(spelling.todos(event)), escaped=True)
        losses.add("todo-states", count=read != event)
        # What lost a state is spelled by its items, with a space more behind the first: as it will be read again.
        return parse_todos(_one_line(spelling.todos(read)), escaped=True)
    if isinstance(event, lifecycle.Lifecycle):
        joined = None if event.result is None else join_lines(event.result)
        primitive = lifecycle.build_primitive(event.name, event.arguments, entry.meta, joined)
        losses.add("line-breaks", count=primitive != event.primitive)
        return lifecycle.Lifecycle(event.name, primitive, event.arguments, joined, event.comment)
    if not isinstance(event, Call) or event.result is None:
        return event
    if isinstance(event, calls.Question):
        return with_result(event, event.arguments, join_lines(event.result))
    short = _shorten_result(event.result, losses, keep_unit=isinstance(event, calls.Plan))
    return with_result(event, event.arguments, short)


def _shorten_result(result: Result, losses: Losses, *, keep_unit: bool) -> Result:
    """`[186]` for `[186 lines]`, and of a result of several lines its first, or of free text their number."""
    has_body = "\n" in result.text
    has_unit = result.unit is not None and not keep_unit
    if not has_body and not has_unit:
        return result
    losses.add("bodies", count=has_body)
    frame, content = outcomes.split(outcomes.encode(result))
    if frame == "text" and has_body:
        return outcomes.decode({"count": content.count("\n") + 1})
    if has_unit and isinstance(frame, dict) and result.count is not None:
        losses.add("units")
        frame = {"count": result.count}
    first = content.partition("\n")[0]
    return outcomes.decode(outcomes.join(frame, first))


def join_lines(result: Result) -> Result:
    """The same result with its line feeds escaped, so that it stands on one line."""
    if "\n" not in (result.raw or result.text):
        return result
    source = result.raw or "\n".join(spelling.block(result.text))
    joined = parse_result(_one_line(source), escaped=True)
    return joined if joined.kind is result.kind or joined.kind is ResultKind.TEXT else result


def _one_line(source: str) -> str:
    """Escaped text with its line feeds escaped too."""
    return (
        "\\n".join("" if line == spelling.EMPTY else line for line in source.split("\n"))
        if "\n" in source
        else source
    )


def _text_field(event: Event) -> str:
    """Which field of an event is a text of several lines."""
    if isinstance(event, Message | Thinking | comments.Remark | comments.Note | comments.Status):
        return "text"
    return "json" if isinstance(event, comments.RawEvent) else ""


def tighten(line: str) -> str:
    """A rendered line without the spaces behind its prefix and around its arrow."""
    kind = classify(line)
    if kind is Kind.COMMENT:
        return "#" + line[1:].removeprefix(" ")
    parts = Parts(kind, line, True)
    if parts.result_start >= 0:
        arrow = line.rindex("→", 0, parts.result_start)
        line = line[:arrow].rstrip(" ") + "→" + line[arrow + 1 :].removeprefix(" ")
    prefix = PREFIXES[kind]
    return prefix + line[len(prefix) :].removeprefix(" ") if kind in _SPACED else line
