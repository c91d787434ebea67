"""The words of `mem search`, read without the machinery of the other commands; what is not plain is left to that."""

import sys
from typing import Any

from blackbird.artifacts.model import Type
from blackbird.cli.memory import questions
from blackbird.cli.memory.questions import Search
from blackbox.errors import BlackboxError
from blackbox.terminal import output

_TEXTS = {"--session": "session", "--task": "task"}
_FLAGS = {"--everywhere": "everywhere", "--explain": "explain", "--json": "as_json"}
_TYPES = {str(each): each for each in Type}
_MOST = 100


def answer(arguments: list[str]) -> int | None:
    """Answer, and say with which code to end; nothing if that is to be done the long way, as errors are."""
    asked = read(arguments)
    if asked is None:
        return None
    try:
        told = questions.search(asked)
    except BlackboxError:
        return None
    try:
        sys.stdout.buffer.write(told.data)
        sys.stdout.flush()
    except BrokenPipeError:
        output.mute()
        return 0
    except OSError:
        return None
    return told.code


def read(arguments: list[str]) -> Search | None:
    """What the arguments say, or nothing: then they are to be read, or refused, the long way."""
    given: dict[str, Any] = {}
    types: list[Type] = []
    words: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        value = rest[0] if rest else ""
        if word in _FLAGS:
            given[_FLAGS[word]] = True
        elif not word.startswith("-"):
            words.append(word)
        elif word in _TEXTS and rest:
            given[_TEXTS[word]] = rest.pop(0)
        elif word == "--type" and value in _TYPES:
            types.append(_TYPES[rest.pop(0)])
        elif word == "-k" and value.isascii() and value.isdecimal() and 1 <= int(value[:4]) <= _MOST:
            given["k"] = int(rest.pop(0))
        else:
            return None
    return Search(text=" ".join(words), types=tuple(types), **given) if words else None
