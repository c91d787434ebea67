"""A question becomes words to search for: which matter, how each is spelled in the index, and which do not count."""

import re
from collections.abc import Callable, Set
from typing import NamedTuple

from blackbird.store.index import Token, quoted
from blackbird.store.texts import spelled

_CHUNK = re.compile(r"\S+")
#: Words that say nothing about what is searched for, questions and the ends of short forms included.
_SAYING_NOTHING = """
a about after all also am an and any are as at be because been before being both but by can could d did do does doing
don down during each few for from further get had has have having he her here hers him his how i if in into is it its
just ll m me more most my no nor not now of off on once only or other our ours out over own re s same she should so
some such t than that the their theirs them then there these they this those through to too under until up us ve very
was we were what when where which while who whom whose why will with would you your yours
"""
_STOPPED = frozenset(_SAYING_NOTHING.split())

Tokens = Callable[[str], list[Token]]


class Term(NamedTuple):
    """A word to search for. It stands in a text by its stem, or by all the pieces that a name consists of."""

    word: str
    stem: str
    #: The pieces and their stems.
    pieces: tuple[tuple[str, str], ...] = ()

    @property
    def expression(self) -> str:
        """The word in the language of the index."""
        if not self.pieces:
            return quoted(self.word)
        return f"({quoted(self.word)} OR ({' AND '.join(quoted(word) for word, _ in self.pieces)}))"

    def stands(self, stems: Set[str]) -> bool:
        """Whether it stands in a text of these stems."""
        return self.stem in stems or (bool(self.pieces) and all(stem in stems for _, stem in self.pieces))


class Plan(NamedTuple):
    """What is searched for, what is not since it says nothing, and what is not since there is too much."""

    terms: tuple[Term, ...]
    stopped: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()


def plan(text: str, tokens: Tokens, most: int) -> Plan:
    """The words of a question. If all of them say nothing, they are searched for all the same."""
    terms: dict[str, Term] = {}
    stopped: dict[str, Term] = {}
    for chunk in _CHUNK.findall(text):
        for term in _terms(chunk, tokens):
            (stopped if term.word in _STOPPED else terms).setdefault(term.stem, term)
    chosen = list((terms or stopped).values())
    return Plan(
        tuple(chosen[:most]),
        tuple(term.word for term in stopped.values()) if terms else (),
        tuple(term.word for term in chosen[most:]),
    )


def _terms(chunk: str, tokens: Tokens) -> list[Term]:
    terms = []
    for token in tokens(chunk):
        word = chunk[token.first : token.last]
        spelling = spelled(word)
        pieces = [(spelling[piece.first : piece.last].lower(), piece.stem) for piece in tokens(spelling)]
        if pieces and pieces[0][1] == token.stem:
            terms.append(Term(word.lower(), token.stem, tuple(dict.fromkeys(pieces[1:]))))
        else:
            # A script without blanks: each pair of signs is a word.
            terms += [Term(*piece) for piece in pieces]
    return terms
