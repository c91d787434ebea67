"""What of an artifact is indexed, and in which field: pure, and the same for the same artifact.

Another rule here is another `SCHEMA`: the index is made anew and never converted.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import NamedTuple

from blackbird.artifacts.model import (
    Artifact,
    Constraint,
    Decision,
    Fact,
    OpenThread,
    Outcome,
    Segment,
    Summary,
    Type,
)
from blackbird.artifacts.shortening import one_line

#: Begins each token of a scope. It is a letter to the tokenizer and is taken out of all texts, so no text can pose as
#: one that belongs to another's scope.
_MARK = "\ue000"
#: No field is longer, whatever an artifact has: a word beyond is found in the segment that says it.
_LONGEST = 20_000
_NANOSECONDS = 1_000_000_000
#: What is not written with blanks between the words: kana, Han, Hangul, Thai, Lao, Myanmar and Khmer.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    r"\U00020000-\U0003134f]+"
)
#: Where a name has a hump, and the names and pieces of names. Most texts have none, which is quickly seen.
_HUMP = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z][0-9]|[0-9][A-Za-z]")
_HUMPED = re.compile(r"[A-Za-z0-9]{3,80}")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
#: Names of code: with humps or underscores inside, dotted, or called.
_SYMBOL = re.compile(
    r"\b(?:[A-Za-z]\w*(?:\.[A-Za-z_]\w+)+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Za-z0-9]+_\w+|[A-Za-z_]\w*(?=\(\)))"
)
_SYMBOL_SIGN = re.compile(r"[a-z][A-Z]|\w[_.]\w|\w\(\)")
_ERROR = re.compile(r"\w*(?:Error|Exception|Panic|Warning)\b[^\n]{0,160}|\berror(?:\[\w+\])?:[^\n]{0,160}")
_ERROR_SIGN = re.compile(r"Error|Exception|Panic|Warning|error[:\[]")
_MOST_FOUND = 50


class Fields(NamedTuple):
    """The indexed text of an artifact, field by field."""

    scope: str
    #: What it is, who said it and when, of which task, and its title unless the text begins so.
    head: str
    text: str
    paths: str = ""
    symbols: str = ""
    errors: str = ""


class Said(NamedTuple):
    """What an artifact says, as people wrote it."""

    text: str
    who: str = ""
    paths: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


def fields(artifact: Artifact) -> Fields:
    """All that is indexed of an artifact."""
    found = said(artifact)
    title = "" if one_line(found.text).startswith(artifact.title.rstrip("…")) else artifact.title
    kind = "" if artifact.type is Type.SEGMENT else artifact.type.replace("_", " ")
    head = (kind, found.who, _date(artifact.at), artifact.task or "", title)
    return Fields(
        scope=" ".join(scope_tokens(artifact)),
        head=spelled(" ".join(each for each in head if each)),
        text=spelled(found.text),
        paths=spelled(" ".join(found.paths)),
        symbols=spelled(" ".join(dict.fromkeys((*found.symbols, *_some(_SYMBOL, _SYMBOL_SIGN, found.text))))),
        errors=spelled("\n".join(dict.fromkeys((*found.errors, *_some(_ERROR, _ERROR_SIGN, found.text))))),
    )


def said(artifact: Artifact) -> Said:
    """What an artifact says, whatever its type."""
    match artifact.content:
        case Segment(speaker=speaker, text=text, paths=paths):
            return Said(text, speaker, paths)
        case Decision() | Constraint() as ruling:
            alternatives = ruling.alternatives if isinstance(ruling, Decision) else ()
            rest = _unsaid(ruling.statement, (ruling.subject, ruling.choice, *alternatives, ruling.rationale))
            return Said("\n".join((ruling.statement, *rest)), ruling.by)
        case OpenThread(text=text, by=by, closed_by=closed_by):
            return Said("\n".join((text, *_unsaid(text, (closed_by,)))), by)
        case Outcome() as outcome:
            return _of_outcome(outcome)
        case Fact(name=name, value=value):
            return Said(f"{name.replace('_', ' ')}: {value}")
        case Summary(goal=goal, checkpoint=checkpoint, bullets=bullets, tasks=tasks):
            return Said("\n".join(each for each in (goal, checkpoint, *bullets, *tasks) if each))


def scope_tokens(artifact: Artifact) -> Iterator[str]:
    """What a search can be narrowed to."""
    yield session_token(artifact.session)
    if artifact.task is not None:
        yield task_token(artifact.task)
    yield type_token(artifact.type)
    if artifact.type is not Type.SEGMENT:
        yield CONCLUDED


def session_token(session: str) -> str:
    """The token of what belongs to a session."""
    return _token("s", session)


def task_token(task: str) -> str:
    """The token of what belongs to a task."""
    return _token("t", task)


def type_token(kind: Type) -> str:
    """The token of a type."""
    return _token("y", kind)


def spelled(text: str) -> str:
    """A text for the index: pieces of names follow it, and scripts without blanks are cut into pairs of signs."""
    text = text[:_LONGEST].replace(_MARK, " ")
    humps = _humps(text) if _HUMP.search(text) else []
    if not text.isascii():
        text = _UNSPACED.sub(lambda found: f" {' '.join(pairs(found[0]))} ", text)
    return f"{text} {' '.join(humps)}" if humps else text


def _humps(text: str) -> list[str]:
    return [piece for word in _HUMPED.findall(text) if _HUMP.search(word) for piece in _PIECE.findall(word)]


def pairs(run: str) -> list[str]:
    """Each two signs that follow one another; one sign alone stands for itself."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _token(kind: str, name: str) -> str:
    # The digit at its end keeps the stemmer away.
    return f"{_MARK}{kind}{hashlib.blake2b(name.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}0"


#: The token of all that is no piece of a transcript.
CONCLUDED = _token("c", "concluded")


def _of_outcome(outcome: Outcome) -> Said:
    told = (outcome.description, *outcome.bullets, outcome.final)
    ran = (" ".join(part for part in (one.line, one.said) if part) for one in outcome.commands)
    return Said(
        "\n".join(each for each in (*told, *ran) if each),
        str(outcome.status),
        tuple(dict.fromkeys((*(one.path for one in outcome.files), *outcome.read))),
        tuple(dict.fromkeys(symbol for one in outcome.files for symbol in one.symbols)),
        outcome.errors,
    )


def _unsaid(text: str, others: Iterable[str | None]) -> list[str]:
    """What the text does not say itself."""
    return [other for other in dict.fromkeys(others) if other and other not in text]


def _some(pattern: re.Pattern[str], sign: re.Pattern[str], text: str) -> list[str]:
    return [found[0] for found in islice(pattern.finditer(text), _MOST_FOUND)] if sign.search(text) else []


def _date(at: int | None) -> str:
    """A day in the words that people ask for it with."""
    try:
        day = datetime.fromtimestamp((at or 0) // _NANOSECONDS, UTC)
    except (OverflowError, ValueError, OSError):
        return ""
    return f"{day.day} {day:%B %Y %A}" if at is not None else ""
