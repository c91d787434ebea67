"""What is wrong with the CA, as values."""

import datetime as dt
import enum
from pathlib import Path

import msgspec

from blackbird.authority.ca import RENEW, Condition

#: Below this the recorder issues it again by itself, when it is next used.
_SOON = dt.timedelta(days=30)


class Level(enum.StrEnum):
    """How bad something is, here and for `doctor`; only an error makes a command fail."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


class Problem(msgspec.Struct, frozen=True):
    """One thing to know of the CA; `id` is for programs."""

    id: str
    weight: Level
    what: str
    remedy: str = ""


def problems(condition: Condition, key: Path, now: dt.datetime) -> list[Problem]:
    """All that is to be said of a CA in this condition, at this time; never nothing."""
    if condition.damage is not None:
        return [Problem("ca-damaged", Level.ERROR, condition.damage, RENEW)]
    if condition.authority is None:
        text = "there is no private CA yet; it is made when an agent first runs in forward mode"
        return [Problem("ca-missing", Level.NOTE, text)]
    found = [*_key(condition, key), *_validity(condition.authority.not_before, condition.authority.not_after, now)]
    if not found:
        until = f"{condition.authority.not_after:%Y-%m-%d}"
        count = len(condition.authority.hosts)
        text = f"the private CA is valid until {until} and speaks for {count} host{'s' if count != 1 else ''} alone"
        found.append(Problem("ca", Level.OK, text))
    return found


def _key(condition: Condition, key: Path) -> list[Problem]:
    if condition.key_mode is None:
        return [Problem("ca-key-missing", Level.ERROR, f"the key of the private CA, {key}, is not there", RENEW)]
    found = []
    if condition.key_mode & 0o077:
        text = f"others can read the key of the private CA, {key} (mode {condition.key_mode:04o})"
        found.append(Problem("ca-key-open", Level.ERROR, text, f"{RENEW}: the old key may be known by now"))
    if condition.key_fits is False:
        text = "the certificate of the private CA does not fit its key: somebody has put one in the other's place"
        found.append(Problem("ca-foreign", Level.ERROR, text, RENEW))
    return found


def _validity(begin: dt.datetime, end: dt.datetime, now: dt.datetime) -> list[Problem]:
    if now < begin:
        text = f"the private CA is valid from {begin:%Y-%m-%d %H:%M} UTC on only, which is later than this clock"
        return [Problem("ca-early", Level.ERROR, text, f"set the clock right, or: {RENEW}")]
    if now >= end:
        text = f"the private CA has expired on {end:%Y-%m-%d}"
        return [Problem("ca-expired", Level.WARNING, text, "the next run in forward mode issues it again")]
    if end - now < _SOON:
        text = f"the private CA expires on {end:%Y-%m-%d}"
        return [Problem("ca-soon", Level.NOTE, text, "the next run in forward mode issues it again")]
    return []
