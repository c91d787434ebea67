"""What a short answer settles: a yes to a proposal, an option out of a list, an order that takes up a question."""

import re
from typing import NamedTuple

from blackbird.artifacts.prose import sentences

#: An answer with more words says itself what it means; one that begins with a yes may go on for so many.
_WORDS = 14
_WORDS_BEHIND_YES = 40
_LONGEST_STATEMENT = 400
#: How much of the agent's last words is read.
_BEFORE = 12_000

_YES = re.compile(
    r"\W*(?:yes|yep|yup|yeah|sure(?: thing)?|ok(?:ay)?|sounds good|(?:that |it )?looks? good"
    r"|(?:yes )?please(?: do)?|go ahead|go for it|do (?:it|that|this|so)|absolutely|definitely|of course|correct"
    r"|agreed|right|perfect|lgtm|fine|good|proceed)\b",
    re.IGNORECASE,
)
_MERE_YES = re.compile(
    r"\W*(?:(?:yes|yep|yup|yeah|sure|ok|okay|thing|sounds|looks|good|please|do|go|ahead|for|it|that|this|so"
    r"|absolutely|definitely|of|course|correct|agreed|right|perfect|lgtm|fine|proceed|and|implement|make|the|change|changes|with"
    r"|thanks|thx|great|add|them|all|both|now|then|a|test|tests)\b\W*)+$",
    re.IGNORECASE,
)
_FIRM_YES = re.compile(
    r"\W*(?:yes|yep|yup|yeah|sure|sounds good|go ahead|agreed|absolutely|definitely)\b(?: that's good)?"
    r"(?=\s*[,.!;]|\s+but\b|\s*$)",
    re.IGNORECASE,
)
_NO = re.compile(r"\W*(?:no|nope|nah)\b(?=\s*[,.!;:-]|\s*$)", re.IGNORECASE)
_TURN = re.compile(r"\b(?:but|however|except|instead|though|only)\b", re.IGNORECASE)
_PICKED = re.compile(
    r"\W*(?:(?:let's|lets|i'd|i would|i'll|we'll|please|ok|yes|just|i|we)\s+)*"
    r"(?:(?:try|go with|do|use|take|pick|choose|prefer|say|go for|options?|number|variant|choice|approach|#)\s*)*"
    r"(?:the\s+)?(?:option\s+|number\s+|#)?"
    r"(?P<marks>(?:\d{1,2}|[a-h])(?:\s*(?:,|and|&|\+|then|or)+\s*(?:\d{1,2}|[a-h]))*"
    r"|first|second|third|fourth|last|former|latter)"
    r"(?:\s+(?:one|option|first|please|approach|variant|then|sounds good|it is|is fine))*\W*$",
    re.IGNORECASE,
)
_OPTION = re.compile(
    r"^[ \t]*(?:[-*][ \t]+)?(?:\*\*)?(?:option[ \t]+)?\(?(?P<mark>\d{1,2}|[A-Ha-h])(?:[.):])(?:\*\*)?[ \t]+"
    r"(?P<what>\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_TITLE = re.compile(r"\*\*(?P<bold>[^*\n]+)\*\*")
_ASKS = re.compile(
    r"\b(?:would you like|do you want|should (?:i|we)|shall (?:i|we)|want me to|may i|can i"
    r"|is (?:that|this) (?:ok|okay|fine|good|right)|which|what (?:would|do) you|how (?:should|would)|prefer"
    r"|your (?:choice|preference|call)|does (?:that|this) (?:sound|look|work)|(?:sound|look)s? good"
    r"|ok(?:ay)? (?:to|with|if)|agree)\b",
    re.IGNORECASE,
)
_MERE_GOING_ON = re.compile(
    r"\b(?:anything else|continue|proceed|go on|keep going|ready|help with)\s*\?", re.IGNORECASE
)
_POINTER = re.compile(r"\b(?:this|that|these|those|it|them|so|the (?:change|changes|update|fix))\b", re.IGNORECASE)
_NUMBERS = {"first": 0, "former": 0, "second": 1, "latter": 1, "third": 2, "fourth": 3, "last": -1}


class Reply(NamedTuple):
    """What an answer settles, and the option that it takes with those it leaves.

    `is_answer`: the words mean little by themselves, whatever form they have.
    """

    statement: str
    choice: str | None = None
    rejected: tuple[str, ...] = ()
    is_answer: bool = False


def settles(answer: str, before: str) -> Reply | None:
    """What a user's answer settles about what the agent asked last, or nothing."""
    words = len(answer.split())
    is_yes = _FIRM_YES.match(answer) is not None and words <= _WORDS_BEHIND_YES
    if not before or not (is_yes or 0 < words <= _WORDS):
        return None
    question = _question(before[-_BEFORE:])
    options = _options(before[-_BEFORE:])
    if options and (picked := _PICKED.match(answer)):
        return _picked(picked["marks"], options)
    if question is None:
        return None
    if is_yes or (_YES.match(answer) and (_MERE_YES.match(answer) or _TURN.search(answer))):
        return Reply(
            _short(f"Yes: {question}" if _MERE_YES.match(answer) else f"{answer.strip()} (asked: {question})")
        )
    if _NO.match(answer):
        return Reply(_short(f"{answer.strip()} (asked: {question})"), is_answer=True)
    return Reply(_short(f"{answer.strip()} (asked: {question})")) if _takes_up(answer, question) else None


def _question(before: str) -> str | None:
    """The question that the agent's words end with, after what it points to; of several in a row, the first."""
    found = [sentences.plain(before[one.first : one.last]) for one in sentences.sentences(before)]
    asked: int | None = None
    for at in range(len(found) - 1, max(len(found) - 6, -1), -1):
        is_asked = found[at].endswith(("?", ":")) and _ASKS.search(found[at]) and not _MERE_GOING_ON.search(found[at])
        if is_asked:
            asked = at
        elif asked is not None:
            break
    if asked is None:
        return None
    context = found[asked - 1] if asked and _POINTER.search(found[asked]) else ""
    return f"{context} {found[asked]}".strip()


def _options(before: str) -> list[tuple[str, str]]:
    """The last list of options, if the words around it ask for one: their marks and what they are."""
    options: list[tuple[str, str]] = []
    for found in _OPTION.finditer(before):
        mark = found["mark"].casefold()
        if mark in ("1", "a"):
            options = []
        options.append((mark, _title(found["what"])))
    is_asked = any(_ASKS.search(line) for line in before.splitlines()[-14:] if line.rstrip().endswith(("?", ":")))
    return options if len(options) > 1 and is_asked else []


def _title(option: str) -> str:
    bold = _TITLE.match(option)
    return " ".join((bold["bold"] if bold else option).split())[:160].strip(" *:")


def _picked(marks: str, options: list[tuple[str, str]]) -> Reply | None:
    if marks.casefold() in _NUMBERS:
        number = _NUMBERS[marks.casefold()]
        wanted = {options[number][0]} if number < len(options) else set()
    else:
        wanted = set(re.findall(r"\d{1,2}|\b[a-h]\b", marks.casefold()))
    chosen = [what for mark, what in options if mark in wanted]
    if not chosen:
        return None
    rejected = tuple(what for mark, what in options if mark not in wanted)
    choice = "; ".join(chosen)
    return Reply(_short(f"Chosen: {choice}"), choice, rejected, is_answer=True)


def _takes_up(answer: str, question: str) -> bool:
    """Whether an order uses the question's own verb: `Delete them.` after `Should I delete those files?`"""
    words = re.findall(r"[a-z]+", answer.casefold())
    while words and words[0] in ("yes", "no", "nope", "please", "ok", "just", "yeah", "yep", "then", "and"):
        words = words[1:]
    is_short = 1 < len(words) <= 6 and not answer.rstrip().endswith("?")
    return is_short and len(words[0]) > 3 and words[0] in re.findall(r"[a-z]+", question.casefold())


def _short(statement: str) -> str:
    line = " ".join(statement.split())
    return line if len(line) <= _LONGEST_STATEMENT else line[: _LONGEST_STATEMENT - 1].rstrip() + "…"
