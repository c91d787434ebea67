"""A finding: how bad it is, what it is, on what evidence, and what to type about it."""

import msgspec

from blackbird.authority.problems import Level


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at. Nothing in it is taken from what agents said or were told."""

    id: str
    level: Level
    what: str
    evidence: str = ""
    remedy: str = ""


def ok(name: str, what: str, evidence: str = "") -> Finding:
    """All is well here."""
    return Finding(name, Level.OK, what, evidence)


def note(name: str, what: str, evidence: str = "", remedy: str = "") -> Finding:
    """Good to know."""
    return Finding(name, Level.NOTE, what, evidence, remedy)


def warning(name: str, what: str, evidence: str = "", remedy: str = "") -> Finding:
    """Something is, or will soon be, missing from the recordings."""
    return Finding(name, Level.WARNING, what, evidence, remedy)


def error(name: str, what: str, evidence: str = "", remedy: str = "") -> Finding:
    """It does not work, or is not safe, as it is."""
    return Finding(name, Level.ERROR, what, evidence, remedy)
