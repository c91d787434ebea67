"""How long a text is in tokens: by a counter that works anywhere and counts rather too much, or by an exact one.

No counter that works offline counts as the model of the day does, so a counter has a name with a version: whatever
depends on a count depends on that name, too.
"""

import functools
import importlib
import itertools
import re
from typing import Protocol

from blackbird.errors import ConfigError

PLAIN, EXACT = "plain", "o200k"
#: How much more the plain counter says than it counted, in hundredths. Against the larger of o200k and cl100k, on
#: 13 000 passages of prose, code, paths, ids and nine languages, it says 1.06 to 1.2 times as much at the median of
#: English and code (1.4 of Russian), too little of 1.6 % of the passages, by more than a twentieth of 0.3 %.
MARGIN = 10

#: Words as vocabularies split them, with the sign before them; letters and digits mixed, as in ids; numbers; signs;
#: ends of lines with what is blank around them; other scripts, sign by sign where each has its own. All are bounded:
#: no text takes longer than its length.
_PIECES = re.compile(
    r"[A-Za-z]{0,24}[0-9]{1,24}[A-Za-z][A-Za-z0-9]{0,40}|[A-Za-z]{1,24}[0-9][A-Za-z0-9]{3,40}"
    r"|[!-/:-@\[-`{-~]?(?:[A-Z]{1,40}(?![a-z])|[A-Z]?[a-z]{1,40})| ?[0-9]{1,3}|[!-/:-@\[-`{-~]{1,40}"
    r"|[ \t]{0,40}[\r\n]\s{0,80}|[ \t]{2,80}|[\u0370-\u1fff]{1,40}|[^ !-~]"
)
#: What two letters side by side in a word cost, in tenths of a token: where a vocabulary is likely to split. A row
#: for each first letter, a digit to the base 16 for each second one; measured on the words of such texts.
_ROWS = (
    "40008101110000107000101001 258819a931b0d81af235257e1a 172706602c011403605018ac1c 44a2192a29835417f32723941a",
    "24102213343100421000411004 2985117a1ec1151ad0312e710e 35a71a213b73612ae12336b908 139b1ae82b556229c371376c19",
    "1000100025100000200040b060 48242bbb2348881521062f3ebe 2cf625532ce4b149ca3455381b 265003552e1164035721324c0e",
    "1182149d2f841201262526c81f 3a10130732158326a910237324 21002104110000117000010207 1d2516413a404211a02024582d",
    "3c3ceeeceec2ac8b64840ce8a8 242104152c151104b21021540d 3729152029122212361017282c 391414d02bb576247122293215",
    "2011120116300050b00083a134 1bbc0b36285c4f23d93445585e 186029702d55801ee1147e1348 3c4c4ef738b76dd1db90c8c22f",
    "6368376e3ce44024fe025f3e13 47fa1fe94ebc880ed8f44c4807",
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_PAIRS = {
    first + second: int(digit, 16)
    for first, row in zip(_LETTERS, " ".join(_ROWS).split(), strict=True)
    for second, digit in zip(_LETTERS, row, strict=True)
}


class Counter(Protocol):
    """Counts tokens. The same name never counts otherwise."""

    @property
    def name(self) -> str:
        """What it is, and its version."""

    def count(self, text: str) -> int:
        """How many tokens a text is."""


class Plain:
    """Counts words by their letters, ids, numbers and signs, with a margin on top."""

    name = "plain/2"

    def count(self, text: str) -> int:
        """How many tokens a text is, rather too many than too few."""
        tenths = sum(map(_tenths, _PIECES.findall(text)))
        return -(-tenths * (100 + MARGIN) // 1000)


class Exact:
    """Counts with the vocabulary o200k, which comes with the extra `tokens`."""

    def __init__(self) -> None:
        try:
            module = importlib.import_module("rs_bpe.bpe").openai
        except ImportError as error:
            raise ConfigError(
                "context.counter is o200k, and its vocabulary is not installed",
                "pip install 'blackbird[tokens]', or set context.counter to plain",
            ) from error
        self._vocabulary = module.o200k_base()
        self.name = "o200k/rs-bpe-1"

    def count(self, text: str) -> int:
        """How many tokens a text is."""
        # The vocabulary takes no halves of surrogate pairs, which JSON can smuggle into a string.
        return int(self._vocabulary.count(text.encode("utf-8", "replace").decode()))


def counter(name: str = PLAIN) -> Counter:
    """The counter of a setting. Raises `ConfigError` if it needs what is not installed."""
    return Exact() if name == EXACT else Plain()


@functools.lru_cache(maxsize=1 << 14)
def _tenths(piece: str) -> int:
    """What a piece costs in tenths of a token."""
    last = piece[-1]
    if piece.isascii() and piece.strip(" ").isalnum() and not piece.isalpha():
        is_number = last.isdigit() and piece.strip(" ").isdigit()
        return (10 + 13 * piece.startswith(" ")) if is_number else 14 + 6 * len(piece)
    if "a" <= last <= "z" or "A" <= last <= "Z":
        return _word(piece)
    if piece.isspace():
        is_indented = last in " \t"
        return (6 + 6 * is_indented) if "\n" in piece or "\r" in piece else 15
    if piece.isascii():
        changes = sum(one != other for one, other in itertools.pairwise(piece))
        return 8 + 4 * changes + (len(piece) - 1 - changes)
    return _foreign(piece)


def _word(piece: str) -> int:
    """A word: its pairs of letters, what capitals cost beyond them, and the sign before it."""
    word = piece if piece[0].isalpha() else piece[1:]
    letters = word.lower()
    pairs = sum(_PAIRS[letters[at : at + 2]] for at in range(len(letters) - 1))
    capitals = len(word) - 1 if word.isupper() else 0
    return 8 + pairs + capitals + 4 * (len(piece) - len(word))


def _foreign(piece: str) -> int:
    """Letters of other scripts: words of those that have some, else each sign by itself."""
    code = ord(piece[0])
    if 0x370 <= code <= 0x1FFF:
        return 14 + 4 * len(piece)
    if 0x3040 <= code <= 0xD7AF:
        return 12
    return 28 if code > 0xFFFF else 10
