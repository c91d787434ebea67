"""The words of others on one line, so that they can pose as nothing else: no tag, no heading, no speaker, no id."""

import re

from blackbird.artifacts import shortening

#: What begins a block of Markdown: a heading, a quote, an item, a rule; and the mark of other sessions.
_BLOCK = re.compile(r"(?:#{1,6}|>+|[-*+•]|\d{1,3}[.)]|-{3,}|={3,}|\*{3,}|_{3,})(?=\s|$)\s*|>+|[†\s]+")
#: A sign that opens a tag, also where a client escaped it.
_TAG = re.compile(r"(?:<|&(?:lt|#0*60|#[xX]0*3[cC]);?)(?=[^\s\d=]|$)")
_OPENED = re.compile(r"^<")
_CLOSING = re.compile(r"\|>")
_FENCE = re.compile(r"`{3,}|~{3,}")
_ROLES = r"human|assistant|system|developer|user|tool"
_SPEAKER = re.compile(rf"^(?P<first>(?i:{_ROLES}))\s*:|\b(?P<role>{_ROLES.title()}|{_ROLES.upper()})\s*:")
_INSTRUCTION = re.compile(r"\[(/?INST)\]")
_ID = re.compile(r"\[(?=art_)")
#: Without any of these, a line that begins with a letter can pose as nothing. Most have none.
_SIGN = re.compile(r"[<&`~|\[:]")


def quoted(text: str, longest: int = 240, *, leads: bool = True) -> str:
    """A text of somebody else, as a part of one line; `leads`: nothing of ours stands before it."""
    line = shortening.one_line(shortening.visible(text), longest)
    if line[:1].isalpha() and _SIGN.search(line) is None:
        return line
    line = _FENCE.sub("''", line)
    line = _TAG.sub("‹", line)
    line = _CLOSING.sub("|›", line)
    line = _INSTRUCTION.sub(r"(\1)", line)
    line = _ID.sub("(", line)
    line = _OPENED.sub("‹", _without_blocks(line)) if leads else line
    return _SPEAKER.sub(lambda found: f"{found['first'] or found['role']} –", line).strip()


def _without_blocks(line: str) -> str:
    """A line without what would begin a block of Markdown or pose as our mark, however often that is repeated."""
    at = 0
    while found := _BLOCK.match(line, at):
        at = found.end()
    return line[at:]
