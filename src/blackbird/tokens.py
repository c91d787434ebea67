"""How long a text is in tokens: by a counter that works anywhere and counts rather too much, or by an exact one.

No counter that works offline counts as the model of the day does, so a counter has a name with a version: whatever
depends on a count depends on that name, too.
"""

import importlib
import math
import re
from typing import Protocol

from blackbird.errors import ConfigError

PLAIN, EXACT = "plain", "o200k"
#: How much more the plain counter says than it counted: what it undercounts of text of any kind stays below it.
MARGIN = 0.10
_PIECES = re.compile(r"[A-Za-z]+|[0-9]{1,3}|[^\sA-Za-z0-9\x00-\x7f]|[^\sA-Za-z0-9]{1,2}|\n+")
_LETTERS_A_TOKEN = 6


class Counter(Protocol):
    """Counts tokens. The same name never counts otherwise."""

    @property
    def name(self) -> str:
        """What it is, and its version."""

    def count(self, text: str) -> int:
        """How many tokens a text is."""


class Plain:
    """Counts words, numbers and signs, with a margin above what the vocabularies of large models come to."""

    name = "plain/1"

    def count(self, text: str) -> int:
        """How many tokens a text is at most."""
        pieces = _PIECES.findall(text)
        counted = sum(-(-len(piece) // _LETTERS_A_TOKEN) if piece[0].isalpha() else 1 for piece in pieces)
        return math.ceil(counted * (1 + MARGIN))


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
        return int(self._vocabulary.count(text))


def counter(name: str = PLAIN) -> Counter:
    """The counter of a setting. Raises `ConfigError` if it needs what is not installed."""
    return Exact() if name == EXACT else Plain()
