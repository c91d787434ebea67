"""How each client writes its own log: one reader a format, all of the same shape.

Lines are given one by one, a whole document as one line. What they say is handed on as entries; a line that has no
other home becomes a `note`.
"""

from typing import Protocol

from blackbird.canon.model import Evidence
from blackbird.canon.natives import claude_code, gemini_cli, opencode, qwen_code, specstory
from blackbird.canon.natives.codex import reader as codex
from blackbird.canon.natives.flight import bbox, companion
from blackbird.canon.seen import Entry


class Reader(Protocol):
    """Reads one file of one client, from its first line on."""

    def __init__(self, source: str, file: str) -> None: ...

    def line(self, text: str, evidence: Evidence) -> list[Entry]:
        """What a line says; it may complete what earlier ones began."""

    def end(self) -> list[Entry]:
        """What was still waiting for a later line."""


#: Formats by their names.
READERS: dict[str, type[Reader]] = {
    "claude-code": claude_code.Reader,
    "codex": codex.Reader,
    "bbox": bbox.Reader,
    "companion": companion.Reader,
    "gemini-cli": gemini_cli.Reader,
    "opencode": opencode.Reader,
    "qwen-code": qwen_code.Reader,
    "specstory": specstory.Reader,
}
