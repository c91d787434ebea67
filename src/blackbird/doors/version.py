"""The version of this program, by the name of the folder in which its installer noted it."""

import functools
import importlib
import os
import re
import sys

_NOTED = re.compile(r"blackbird-([^-]+)\.dist-info")


@functools.cache
def version() -> str:
    """The version. What the standard library has for this takes a fifth of the time until a client is answered."""
    for place in sys.path:
        try:
            found = [match[1] for name in os.listdir(place or ".") if (match := _NOTED.fullmatch(name))]  # noqa: PTH208 - names are enough
        except OSError:
            continue
        if found:
            return found[0]
    return str(importlib.import_module("importlib.metadata").version("blackbird"))
