"""An artifact, short enough to be read beside many others: a card, with a snippet around the best match."""

from collections.abc import Callable, Sequence

from blackbird.artifacts.shortening import one_line
from blackbird.retrieve import ranking
from blackbird.retrieve.model import Card, Why
from blackbird.retrieve.plan import Term
from blackbird.store.index import Token
from blackbird.store.memory import Stored
from blackbird.store.texts import said
from blackbird.tokens import Counter

_MOST_FILES = 8
_LONGEST_TITLE = 120
#: Characters of a text that are searched for the best place of a snippet.
_LOOK = 20_000
_CUT = "…"
_LONGEST_TOKEN = 24


def card(
    stored: Stored,
    counter: Counter,
    max_snippet_tokens: int,
    *,
    score: float = 0.0,
    why: Why | None = None,
    same: int = 0,
    terms: Sequence[Term] = (),
    tokens: Callable[[str], list[Token]] | None = None,
) -> Card:
    """A card of an artifact. With the words of a question, its snippet is around where most of them stand."""
    artifact = stored.artifact
    found = said(artifact)
    text = one_line(found.text, _LOOK)
    start = _best(text, terms, tokens) if terms and tokens is not None else 0
    return Card(
        id=artifact.id,
        type=artifact.type,
        title=one_line(artifact.title, _LONGEST_TITLE),
        snippet=snippet(text, start, counter, max_snippet_tokens),
        score=score,
        session=artifact.session,
        task=artifact.task,
        run=artifact.run,
        at=artifact.at,
        files=found.paths[:_MOST_FILES],
        state=ranking.state(artifact),
        is_expired=stored.is_expired,
        same=same,
        why=why,
    )


def snippet(text: str, start: int, counter: Counter, most: int) -> str:
    """As much of a text as may be, from a little before a place on; cut at blanks, and by the counter's word."""
    # A token of more letters there is none.
    sample = text if len(text) <= most * _LONGEST_TOKEN else text[start : start + most * _LONGEST_TOKEN]
    sample_tokens = counter.count(sample)
    if sample_tokens <= most and sample is text:
        return text
    length = len(sample) * most // max(sample_tokens, 1)
    # What the text has on average is a good guess; a passage that is denser is cut until it fits.
    while length > 0:
        found = _piece(text, start, length)
        if counter.count(found) <= most:
            return found
        length = length * 9 // 10
    return ""


def _piece(text: str, start: int, length: int) -> str:
    """So many characters around a place: a quarter before it, as far as there are any, and the rest behind."""
    first = max(0, min(start - length // 4, len(text) - length))
    last = min(len(text), first + length)
    if first > 0 and (blank := text.find(" ", first, first + 40)) >= 0:
        first = blank + 1
    if last < len(text) and (blank := text.rfind(" ", max(first, last - 40), last)) > first:
        last = blank
    inner = text[first:last].strip()
    return f"{_CUT if first else ''}{inner}{_CUT if last < len(text) else ''}" if inner else ""


def _best(text: str, terms: Sequence[Term], tokens: Callable[[str], list[Token]]) -> int:
    """Where the passage begins in which most words stand."""
    wanted = {stem: at for at, term in enumerate(terms) for stem in (term.stem, *(each for _, each in term.pieces))}
    hits = [(token.first, wanted[token.stem]) for token in tokens(text) if token.stem in wanted]
    if not text.isascii():
        hits = sorted({*hits, *_unspaced(text, terms)})
    best, most = 0, 0
    for at, (first, _) in enumerate(hits):
        count = len({word for place, word in hits[at : at + 40] if place - first < _PASSAGE})
        if count > most:
            best, most = first, count
    return best


_PASSAGE = 240


def _unspaced(text: str, terms: Sequence[Term]) -> list[tuple[int, int]]:
    """Where words stand in a script without blanks."""
    places = ((text.find(term.word), at) for at, term in enumerate(terms) if not term.word.isascii())
    return [(place, at) for place, at in places if place >= 0]
