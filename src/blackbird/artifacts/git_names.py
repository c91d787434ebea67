"""File names as git and diff spell them: with prefixes, quotes, braces and arrows."""

import re
from collections.abc import Iterable

_OCTAL = re.compile(r'\\(?:([0-7]{3})|(["\\tnr]))')
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r"}
_BRACES = re.compile(r"(?P<before>[^{]*)\{(?P<old>[^{}]*) => (?P<new>[^{}]*)\}(?P<behind>[^{}]*)$")


def behind_sign(name: str) -> str:
    """The name behind `---` and `+++`, without the time that may follow."""
    return unquoted(name.partition("\t")[0].rstrip())


def same_name(names: str) -> str:
    """The name in `a/x b/x`, which blanks within it make hard to see: it stands there twice."""
    middle = len(names) // 2
    old, new = without_prefixes(unquoted(names[:middle].strip()), unquoted(names[middle:].strip()))
    if old == new:
        return new
    return without_prefixes("a/", unquoted(names.rpartition(" b/")[2] or names))[1]


def without_prefixes(old: str, new: str) -> tuple[str, str]:
    """Both names without the letters that git puts before them, if it did."""
    has_old = re.match(r"[aciow]/", old) is not None
    has_new = re.match(r"[bciow]/", new) is not None
    if (has_old or old == "/dev/null") and (has_new or new == "/dev/null"):
        return (old[2:] if has_old else old), (new[2:] if has_new else new)
    return old, new


def unquoted(name: str) -> str:
    """A name that git quotes because of odd letters in it."""
    if not (len(name) > 1 and name.startswith('"') and name.endswith('"')):
        return name
    raw = bytearray()
    at = 1
    for found in _OCTAL.finditer(name, 1, len(name) - 1):
        raw += name[at : found.start()].encode("utf-8", "surrogatepass")
        octal, letter = found[1], found[2]
        raw += bytes([int(octal, 8) & 0xFF]) if octal else _ESCAPED.get(letter, letter).encode()
        at = found.end()
    raw += name[at:-1].encode("utf-8", "surrogatepass")
    return raw.decode("utf-8", "replace")


def arrow(path: str) -> tuple[str | None, str]:
    """Both names of `a/{b => c}/d` or `b => c`."""
    found = _BRACES.match(path)
    if found is not None:
        sides: Iterable[str] = (f"{found['before']}{found[side]}{found['behind']}" for side in ("old", "new"))
        old, new = (side.replace("//", "/") for side in sides)
        return old, new
    old, arrow, new = path.partition(" => ")
    return (old, new) if arrow else (None, path)
