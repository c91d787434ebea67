"""Hands a target over to the fuzzer, with a corpus of our own if the caller names none."""

import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import atheris


def fuzz(exercise: Callable[[bytes], None], seeds: Callable[[], Iterable[bytes]], *options: str) -> None:
    """Run until libFuzzer's own arguments say stop; `options` are more of these, for a corpus of our own."""
    arguments = sys.argv
    with tempfile.TemporaryDirectory() as scratch:
        if all(argument.startswith("-") for argument in arguments[1:]):
            for number, seed in enumerate(seeds()):
                (Path(scratch) / f"{number:05}").write_bytes(seed)
            arguments = [arguments[0], *options, *arguments[1:], scratch]
        atheris.Setup(arguments, exercise)
        atheris.Fuzz()
