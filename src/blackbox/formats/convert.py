"""From any form of a session to any other: bytes in, texts out, and what was lost on the way."""

from collections import Counter
from typing import NamedTuple

from blackbox.document.document import parse
from blackbox.errors import ReadError, UsageError
from blackbox.formats import companion, logs, shortkeys
from blackbox.formats.flight import Entry, Flight, Loss, Reading, flight_of, merge
from blackbox.formats.recognise import Form, name_foreign, recognise
from blackbox.formats.shorten import shortened
from blackbox.syntax.header import HeaderValue
from blackbox.vault.guard import Guard, count_markers
from blackbox.write.render import render_event

#: What `export` writes; a companion comes with its rlog.
WRITTEN = (Form.JSONL, Form.COMPACT, Form.RLOG, Form.BBOX)
LOG, COMPANION = ".rlog", ".jsonl"
_SUFFIXES = {Form.BBOX: ".bbox", Form.COMPACT: ".bbox", Form.JSONL: ".jsonl", Form.RLOG: LOG}


class Written(NamedTuple):
    """A session in one form: each text by the suffix of its file, and what the form could not carry."""

    texts: dict[str, str]
    losses: list[Loss]


class Cleaned(NamedTuple):
    """A session without its secrets, and how many of each kind it had."""

    flight: Flight
    counts: dict[str, int]


def read(data: bytes, name: str) -> tuple[Form, Reading]:
    """The session in `data`, in whatever form it is; `name` is the place that errors are told of."""
    form = recognise(data)
    match form:
        case Form.JSONL:
            return form, shortkeys.from_jsonl(data)
        case Form.COMPANION:
            reading = companion.from_companion(data)
            if is_unknown(reading):
                raise ReadError(
                    f"{name}: it looks like {name_foreign(data)}, which cannot be read yet",
                    "give a log, or a companion; Claude Code's own logs are read as companions",
                )
            return form, reading
        case None:
            what = "it is empty" if not data.strip() else "it is neither a log nor JSON lines of a session"
            raise ReadError(f"{name}: {what}", "give a .bbox, .blackbox, .rlog or .jsonl file of a session")
        case _:
            return form, flight_of(parse(data))


def is_unknown(reading: Reading) -> bool:
    """Whether no line of a companion said anything."""
    unknown = sum(loss.count for loss in reading.losses if loss.what == "unknown-lines")
    return unknown > 0 and unknown == len(reading.flight.entries) and not reading.flight.header


def write(flight: Flight, form: Form) -> Written:
    """The session in another form."""
    match form:
        case Form.JSONL:
            return Written({COMPANION: shortkeys.to_jsonl(flight)}, [])
        case Form.COMPACT:
            text, losses = logs.to_compact(flight)
            return Written({_SUFFIXES[form]: text}, losses)
        case Form.COMPANION:
            return Written({COMPANION: companion.to_companion(flight)}, [])
        case Form.RLOG:
            short, cuts = shortened(flight)
            text, losses = logs.to_log(short, form.value)
            # Both files have the same header, whatever had to be made up for it.
            header = flight_of(parse(text.partition("\n---\n")[0] + "\n---\n")).flight.header
            whole = companion.to_companion(Flight(header, flight.entries))
            return Written({COMPANION: whole, LOG: text}, merge(cuts, losses))
        case Form.BBOX:
            text, losses = logs.to_log(flight, form.value)
            return Written({_SUFFIXES[form]: text}, losses)


def clean(flight: Flight, guard: Guard) -> Cleaned:
    """The session without secrets, in each text and in each entry as a whole."""
    counts: Counter[str] = Counter()
    header = {key: _clean_header(key, value, guard, counts) for key, value in flight.header.items()}
    entries = [_clean_entry(entry, guard, counts) for entry in flight.entries]
    return Cleaned(Flight(header, entries), dict(counts))


def _clean_entry(entry: Entry, guard: Guard, counts: Counter[str]) -> Entry:
    cleaned = Entry(*guard.admit(entry.event, entry.meta))
    try:
        before, after = render_event(entry.event, entry.meta), render_event(cleaned.event, cleaned.meta)
    except UsageError:
        # No line can hold it: each of its texts was searched, and nothing is joined to a line.
        return cleaned
    seen = guard.look_again(after)
    if seen != after:
        cleaned = shortkeys.read_spelled(seen) or cleaned
    if seen != before:
        counts.update(count_markers(seen) - count_markers(before))
    return cleaned


def _clean_header(key: str, value: HeaderValue, guard: Guard, counts: Counter[str]) -> HeaderValue:
    if isinstance(value, dict):
        return {name: _clean_header(name, item, guard, counts) for name, item in value.items()}
    if isinstance(value, list):
        return [_clean_header(key, item, guard, counts) for item in value]
    cleaned = value if key == "format" else guard.clean_value(key, value)
    counts.update(count_markers(cleaned) - count_markers(value))
    return cleaned
