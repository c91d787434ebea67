"""Whether the memory is made the way it was asked for."""

from collections.abc import Iterator

from blackbird.config import modes
from blackbird.doctor.findings import Finding, note


def check(mode: str | None) -> Iterator[Finding]:
    """All about the memory; no mode is known where the configuration cannot be used."""
    said = modes.unmet(mode) if mode is not None else None
    if said is not None:
        yield note("memory-mode", said, "", modes.REMEDY)
