"""A user's word on how it went: it works, it does not. Only short, plain words count."""

import re
from typing import NamedTuple

#: Longer messages say more than how it went.
_LONGEST = 400

_BAD = re.compile(
    r"\b(?:still (?:fail\w*|broken|not working|doesn'?t work|getting|seeing|crash\w*|wrong)"
    r"|(?:it |that |this )?(?:doesn'?t|does not|didn'?t|did not|isn'?t|is not) work\w*"
    r"|(?:that|this|it)(?:'s| is) (?:wrong|broken|not right|incorrect)"
    r"|(?:same|another|new) error|now it (?:fails|crashes)|you broke|tests? (?:are )?(?:still )?fail\w*)\b",
    re.IGNORECASE,
)
_GOOD = re.compile(
    r"\b(?:(?:it|that|this|everything|all)(?:'s| is)? (?:now )?work(?:s|ed|ing)(?: (?:now|great|well|perfectly))?"
    r"|works (?:now|great|well|perfectly|for me)|that fixed it|fixed,? thanks|looks good|lgtm|perfect|great,? thanks"
    r"|(?:all )?tests (?:now )?pass|well done|nice work|good job|ship it)\b",
    re.IGNORECASE,
)
#: What turns praise into a condition, a question or its contrary.
_DOUBT = re.compile(
    r"\b(?:if|once|when|unless|until|but|not|n'?t|almost|except|should|make sure|why|how)\b|\?", re.IGNORECASE
)


class Word(NamedTuple):
    """Where it stands, and whether it is good."""

    first: int
    last: int
    is_good: bool


def read(text: str) -> Word | None:
    """The last plain word in a message, if there is one."""
    if len(text) > _LONGEST:
        return None
    bad = list(_BAD.finditer(text))
    if bad:
        return Word(*bad[-1].span(), is_good=False)
    good = list(_GOOD.finditer(text))
    if not good or _DOUBT.search(_sentence(text, good[-1].start(), good[-1].end())):
        return None
    return Word(*good[-1].span(), is_good=True)


def _sentence(text: str, first: int, last: int) -> str:
    """The sentence around some words."""
    start = max((text.rfind(mark, 0, first) for mark in (".", "!", "\n")), default=-1) + 1
    ends = [at for mark in (".", "!", "\n", "?") if (at := text.find(mark, last)) >= 0]
    return text[start : min(ends) + 1 if ends else len(text)]
