"""The plain way: a line with a cue word is what the word hints at, whoever says it."""

import re

from blackbird.artifacts.model import Type

_CUES = {
    Type.DECISION: re.compile(
        r"\b(?:decid(?:e|ed)|decision|going with|go with|settled on|let's (?:use|go|do|change|keep)|instead of"
        r"|rather than|switch(?:ed)? to|chose|opted|prefer|we want|should (?:be|use))\b",
        re.IGNORECASE,
    ),
    Type.CONSTRAINT: re.compile(
        r"\b(?:must|never|always|don't|do not|make sure|ensure|only|required|avoid|be sure)\b", re.IGNORECASE
    ),
    Type.THREAD: re.compile(
        r"\b(?:todo|fixme|next steps?|not (?:yet )?implemented|blocked|remaining|follow-?up|left to do|still needs?"
        r"|would you like|should i|do you want|want me to)\b",
        re.IGNORECASE,
    ),
}


def cue_types(line: str) -> set[str]:
    """The types of which a line has a cue word."""
    return {kind for kind, cue in _CUES.items() if cue.search(line)}
