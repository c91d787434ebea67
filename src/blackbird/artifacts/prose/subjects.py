"""What a sentence is about and what it chooses, where it says so in so many words; nothing is guessed.

A key is how a subject or a choice is recognised again: in lower case, without articles and plurals.
"""

import re
from typing import NamedTuple

_WORDS = 8
_TRIM = " \t\r\n\"'`*_.,;:!?()“”"
_WORD = re.compile(r"[^\W_]+(?:[-_./+#'@:]+[^\W_]+)*[+#]*|--?[\w-]+")
_ARTICLE = re.compile(
    r"(?:the|a|an|this|that|these|those|our|your|my|its|their|all|any|some|just|only|of)$", re.IGNORECASE
)
#: Where the name of a thing ends.
_STOP = re.compile(
    r"\s+(?:for|because|since|so|instead|rather|over|and|but|when|whenever|if|until|unless|while|as|in|on|at|with|by|to"
    r"|from|than|not|everywhere|here|there|anymore|any more|any longer|again|after|now|please|which|that|where|like"
    r"|without|across|through|via)\b"
    r"|[,;!?\n]|[.:](?:\s|$)|\s[-–—(]|$",
    re.IGNORECASE,
)
#: What may follow it that names the thing more closely.
_PART = re.compile(r"\s+(?:at|of)\s+(?:level|version|least|most)?\s*[\w.]+", re.IGNORECASE)
_NOT_FOR = re.compile(
    r"(?:now|this|that|these|those|it|them|the (?:moment|time being|rest|same)|a (?:while|bit|moment)|each|example"
    r"|all of|both|me|us|you|sure|here)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"(?:it|this|that|they|them|these|those|one|he|she|we|i|you|there|which|what|who)$", re.IGNORECASE
)

_CHOOSE = (
    r"(?:us(?:e|ing)|go(?:ing)? with|went with|stick(?:ing)? (?:with|to)|stay(?:ing)? (?:on|with)|settled? on|choose"
    r"|chose|chosen|pick(?:ed)?|opted for|opt for|adopt|switch(?:ed|ing)? to|move to|migrate to|agreed on)"
)
_TAKEN = re.compile(rf"\b{_CHOOSE}\s+", re.IGNORECASE)
#: What a way back leads to, unless it is told by its age alone.
_BACK = re.compile(
    r"\b(?:back|(?:revert|return)(?:ing)?(?: (?:it|this|that|them|everything))?) to\s+(?:us(?:e|ing)\s+)?"
    r"(?!(?:the |our |its )?(?:previous|old|earlier|original|former|last|first|way|state|before|how|what|where)\b)",
    re.IGNORECASE,
)
_NEGATED_USE = re.compile(
    r"\b(?:never|don't|do not|not to|let's not|stop|avoid|no longer|won't)\s+(?:ever\s+)?us(?:e|ing)\s+",
    re.IGNORECASE,
)
_UNWANTED = re.compile(
    r"\b(?:(?:don't|do not|no longer) (?:really )?(?:want|need)|no need for)\s+(?!to\b)", re.IGNORECASE
)
_INSTEAD = re.compile(r"\b(?:instead of|rather than|in place of|in favou?r of|over|not)\s+", re.IGNORECASE)
_LEADING = re.compile(r"(?:^|[,.;]\s*)(?:instead of|rather than)\s+", re.IGNORECASE)
#: Before a word that would else be a verb: it is a noun.
_NOUN = r"(?<!\bthe )(?<!\ba )(?<!\bonly )(?<!\bthis )(?<!\bany )(?<!\bno )(?<!\bthat )"
_FROM_TO = re.compile(
    _NOUN + r"\b(?:switch|migrate|move|chang\w+|renam\w+|go)\b(?P<what>[^,.;]{0,60}?)\s*\bfrom\s+"
    r"(?P<old>[^,;]{1,60}?)(?:\s+back)?\s+to\s+",
    re.IGNORECASE,
)
_REPLACE = re.compile(
    r"\b(?:replac\w+\s+(?P<old>[^,;]{1,60}?)\s+(?:with|by)|swap\w*\s+(?P<out>[^,;]{1,60}?)\s+for)\s+", re.IGNORECASE
)
_TO = re.compile(
    _NOUN + r"\b(?:set|chang\w+|bump|raise|lower|increase|reduce|pin|upgrade|downgrade|rename|cap|limit|update)\s+"
    r"(?P<what>[^,;]{1,60}?)\s+(?:to(?: be| all use| use)?|at)\s+",
    re.IGNORECASE,
)
_SHOULD_BE = re.compile(
    r"^(?P<what>[^,;]{1,60}?)\s+(?:should|must|needs? to|ha(?:s|ve) to|ought to|will)\s+(?:always\s+)?"
    r"(?:be|start at)\s+",
    re.IGNORECASE,
)
_MUST_NOT = re.compile(
    r"^(?P<what>[^,;]{1,60}?)\s+(?:must not|mustn't|may not|cannot|can't|must never)\s+", re.IGNORECASE
)
_PREFER = re.compile(r"\b(?:prefer|rather (?:have|use|see))\s+", re.IGNORECASE)
_THAN = re.compile(r"\s+(?:over|to|than|instead of|rather than)\s+", re.IGNORECASE)
_MAKE_DEFAULT = re.compile(r"\bmake\s+(?P<what>[^,;]{1,60}?)\s+the\s+(?P<role>default\b[^,.;]{0,30})", re.IGNORECASE)
_TRAILING = re.compile(r"\s+(?:everywhere|here|there|now|again|back|too)\s*$", re.IGNORECASE)
_FOR = re.compile(r"\s+for\s+", re.IGNORECASE)


class Slots(NamedTuple):
    """What a sentence names: its subject's key, the choice, and what was not chosen."""

    subject: str | None = None
    choice: str | None = None
    rejected: tuple[str, ...] = ()


def key(name: str) -> str:
    """The normal form of a subject or a choice: lower case, no articles, no plurals."""
    words = [word for word in _WORD.findall(name.casefold()) if not _ARTICLE.match(word)]
    return " ".join(map(_singular, words))


def normal(statement: str) -> str:
    """The normal form of a statement: two statements with the same one say the same."""
    return key(_FILLERS.sub(" ", statement.casefold().replace("\u2019", "'")))


_FILLERS = re.compile(
    r"\b(?:please|let's|lets|ok|okay|so|also|then|actually|really|yes|yep|yup|yeah|well|now|we'll"
    r"|we will|we should|we want to)\b"
)


def slots(sentence: str, *, is_refusal: bool = False) -> Slots:
    """What a sentence names. `is_refusal`: it says what must not be."""
    if is_refusal:
        return _refused(sentence)
    for reader in (_changed, _back, _replaced, _preferred, _default, _set, _taken, _should_be):
        if (found := reader(sentence)) is not None:
            return found
    return Slots(rejected=_leading(sentence))


def _changed(sentence: str) -> Slots | None:
    """Switch from Y to X."""
    found = _FROM_TO.search(sentence)
    if not found or not (choice := _name(sentence, found.end())):
        return None
    return Slots(_subject(found["what"]) or _purpose(sentence, found.end()), choice, _names(found["old"]))


def _back(sentence: str) -> Slots | None:
    """Go back to X; do not use Y, go back to X."""
    found = _BACK.search(sentence)
    if not found or not (choice := _name(sentence, found.end())):
        return None
    rejected = _instead(sentence, found.end()) or _leading(sentence)
    if not rejected and (left := _NEGATED_USE.search(sentence)):
        rejected = _names(_name(sentence, left.end()))
    return Slots(_purpose(sentence, found.end()), choice, rejected)


def _replaced(sentence: str) -> Slots | None:
    """Replace Y with X."""
    found = _REPLACE.search(sentence)
    if not found or not (choice := _name(sentence, found.end())):
        return None
    return Slots(_purpose(sentence, found.end()), choice, _names(found["old"] or found["out"]))


def _preferred(sentence: str) -> Slots | None:
    """Prefer X over Y."""
    found = _PREFER.search(sentence)
    if not found:
        return None
    than = _THAN.search(sentence, found.end())
    choice = _clean(sentence[found.end() : than.start()]) if than else _name(sentence, found.end())
    rejected = _names(_name(sentence, than.end())) if than else ()
    return Slots(None, choice, rejected) if choice else None


def _default(sentence: str) -> Slots | None:
    """Make X the default."""
    found = _MAKE_DEFAULT.search(sentence)
    return Slots(key(found["role"]), _clean(found["what"])) if found and _clean(found["what"]) else None


def _set(sentence: str) -> Slots | None:
    """Set K to V, rename K to V."""
    found = _TO.search(sentence)
    if not found or not (choice := _name(sentence, found.end())):
        return None
    return Slots(_subject(found["what"]), choice, _instead(sentence, found.end()))


def _taken(sentence: str) -> Slots | None:
    """Use X for Y, X instead of Y."""
    found = _TAKEN.search(sentence)
    if not found or not (choice := _name(sentence, found.end())):
        return None
    return Slots(_purpose(sentence, found.end()), choice, _instead(sentence, found.end()) or _leading(sentence))


def _should_be(sentence: str) -> Slots | None:
    """K should be V."""
    found = _SHOULD_BE.match(sentence)
    if not found or not (subject := _subject(found["what"])):
        return None
    return Slots(subject, _name(sentence, found.end()), _instead(sentence, found.end()))


def _refused(sentence: str) -> Slots:
    """Never use X for Y; K must not change."""
    if found := _NEGATED_USE.search(sentence):
        return Slots(_purpose(sentence, found.end()), None, _names(_name(sentence, found.end())))
    if found := _UNWANTED.search(sentence):
        return Slots(None, None, _names(_name(sentence, found.end())))
    if found := _MUST_NOT.match(sentence):
        return Slots(_subject(found["what"]))
    return Slots()


def _purpose(sentence: str, at: int) -> str | None:
    """What follows the first `for`, in the same clause."""
    found = _FOR.search(sentence, at)
    if (
        not found
        or any(mark in sentence[at : found.start()] for mark in ",;")
        or _NOT_FOR.match(sentence, found.end())
    ):
        return None
    return _subject(_name(sentence, found.end()) or "")


def _instead(sentence: str, at: int) -> tuple[str, ...]:
    found = _INSTEAD.search(sentence, at)
    return _names(_name(sentence, found.end())) if found else ()


def _leading(sentence: str) -> tuple[str, ...]:
    found = _LEADING.search(sentence)
    return _names(_name(sentence, found.end())) if found else ()


def _name(sentence: str, at: int) -> str | None:
    """The name that begins here: up to where a name ends; code in backticks is one as a whole."""
    if sentence.startswith("`", at) and (close := sentence.find("`", at + 1)) > 0:
        return _clean(sentence[at : close + 1])
    stop = _STOP.search(sentence, at)
    end = stop.start() if stop else len(sentence)
    if part := _PART.match(sentence, end):
        end = part.end()
    name = _clean(sentence[at:end])
    is_name = name and len(name.split()) <= _WORDS and not _PRONOUN.match(name) and not _STOP.match(f" {name}")
    return name if is_name else None


def _names(name: str | None) -> tuple[str, ...]:
    cleaned = _clean(name or "")
    return (cleaned,) if cleaned else ()


def _clean(name: str) -> str | None:
    return name.strip(_TRIM) or None


def _subject(name: str) -> str | None:
    """The key of a subject, if it is a name and no mere pointer."""
    cleaned = _clean(_TRAILING.sub("", name)) or ""
    if _PRONOUN.match(cleaned) or len(cleaned.split()) > _WORDS:
        return None
    return key(cleaned) or None


def _singular(word: str) -> str:
    if not word.isalpha() or len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") else word
