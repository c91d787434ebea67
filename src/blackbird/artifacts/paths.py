"""Paths as people name them: relative to the folder of the work, and those that a text mentions."""

import re
from collections.abc import Iterator

#: A word with a slash and an extension, or a file name with a known kind of ending.
_MENTION = re.compile(
    r"(?<![\w/@:.+-])(?:\.{0,2}/)?(?:[\w@+-][\w.@+-]*/)+[\w@+-][\w.@+-]*\.[A-Za-z][\w-]{0,9}(?![\w/])"
    r"|(?<![\w/@:.+-])[\w@+-][\w.@+-]*\.(?:py|pyi|rs|go|ts|tsx|js|jsx|mjs|cjs|java|kt|c|h|cc|cpp|hpp|rb|php|swift|sh|sql"
    r"|md|rst|txt|toml|yaml|yml|json|jsonl|html|css|scss|vue|svelte|proto|lock|cfg|ini|env)(?![\w/])"
)


def relative(path: str, cwd: str | None) -> str:
    """A path as it is called from the folder of the work; one outside of it stays whole."""
    if cwd and path.startswith(cwd.rstrip("/") + "/"):
        return path[len(cwd.rstrip("/")) + 1 :]
    return path.removeprefix("./")


def mentioned(text: str, cwd: str | None = None) -> Iterator[str]:
    """The paths that a text names, in order."""
    for found in _MENTION.finditer(text):
        yield relative(found[0], cwd)
