"""One line of any text, for titles, bullets and messages."""

import re

_LONGEST = 240
_BLANKS = re.compile(r"\s+")


def visible(text: str) -> str:
    """A text with a blank for whatever is not seen: controls, ends of lines, what turns writing around, halves."""
    return text if text.isprintable() else "".join(sign if sign.isprintable() else " " for sign in text)


def one_line(text: str, longest: int = _LONGEST) -> str:
    """A text as one line, cut at a word where it is too long."""
    # What is printable has no other blank than the space.
    is_one = "  " not in text and text.isprintable()
    line = text.strip() if is_one else _BLANKS.sub(" ", text).strip()
    if len(line) <= longest:
        return line
    cut = line.rfind(" ", longest // 2, longest)
    return line[: cut if cut > 0 else longest].rstrip() + "…"
