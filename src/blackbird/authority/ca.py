"""The private CA of a home: has it made and renewed by the recorder program, reads it, takes it away."""

import contextlib
import datetime as dt
import stat
from pathlib import Path

import msgspec

from blackbird.errors import RecorderFailed
from blackbird.home import Home
from blackbird.recorder import control, program
from blackbox.disk import write_error
from blackbox.errors import ReadError

RENEW = "blackbird ca renew makes a new one"
#: No certificate and no key of ours is longer.
_LONGEST_FILE = 64 << 10
#: What this program and the recorder put there; whatever else somebody keeps there stays.
_OURS = ("ca.key", "ca.pem", "bundle-*.pem", "lock")


class Authority(msgspec.Struct, frozen=True):
    """The CA as it is on the disk; `state` says what was done to have it (kept, made, reissued, renewed)."""

    certificate: Path
    hosts: list[str]
    not_before: dt.datetime
    not_after: dt.datetime
    fingerprint: str
    state: str = "kept"


class Condition(msgspec.Struct, frozen=True):
    """All that can be seen of the CA without changing anything; `damage` is why it cannot be used as it is."""

    authority: Authority | None = None
    damage: str | None = None
    key_mode: int | None = None
    key_fits: bool | None = None


def folder(home: Home) -> Path:
    """Where the CA of a home is."""
    return home.path / "ca"


def certificate_path(home: Home) -> Path:
    """The certificate of the CA, whether or not it is there."""
    return folder(home) / "ca.pem"


def key_path(home: Home) -> Path:
    """The private key of the CA."""
    return folder(home) / "ca.key"


def ensure(home: Home, *, renew: bool = False) -> Authority:
    """The CA for the hosts that are recorded: made, or issued again, if need be; with `renew`, with a new key.

    A recorder that runs has its configuration in place, and that is the one that counts.
    """
    if control.status(home) is None:
        # Imported here: an agent that waits for its CA has a recorder that runs.
        from blackbird.config import render  # noqa: PLC0415
        from blackbird.config.load import load  # noqa: PLC0415

        render.write(load(home), home)
    words: list[str | Path] = ["ca", "--config", home.recorder_json]
    words += ["--renew"] if renew else []
    told = program.run_once("ca", words, "blackbird recorder-path says which program that is")
    try:
        made = msgspec.convert(told, Authority, dec_hook=_to_path)
    except msgspec.ValidationError as error:
        message = f"ca: the recorder program answered something else than a CA: {error}"
        raise RecorderFailed(
            message, "install blackbird again; the recorder program is of another version"
        ) from error
    if renew:
        for old in _files(home, "bundle-*.pem"):
            _unlink(old)
    return made


def read(home: Home) -> Authority | None:
    """The CA as its certificate has it, or nothing if none was made yet. Raises `ReadError` if it is damaged."""
    # Imported here since it takes longer than all else that most commands do.
    from blackbird.authority import certificate  # noqa: PLC0415

    path = certificate_path(home)
    pem = _read(path)
    if pem is None:
        return None
    try:
        content = certificate.parse(pem)
    except ValueError as error:
        raise ReadError(f"{path} is no certificate of a CA of ours: {error}", RENEW) from error
    return Authority(path, content.hosts, content.not_before, content.not_after, content.fingerprint)


def inspect(home: Home) -> Condition:
    """The CA with all that could be wrong with it; raises nothing."""
    try:
        found = read(home)
        mode = _mode(key_path(home))
        key_fits = _fits(home) if found is not None and mode is not None else None
    except ReadError as error:
        return Condition(damage=error.message, key_mode=_mode(key_path(home)))
    return Condition(found, None, mode, key_fits)


def remove(home: Home) -> list[Path]:
    """Take the CA away, and all bundles with it; what was removed. The next use makes another."""
    gone = [path for pattern in _OURS for path in _files(home, pattern)]
    for path in gone:
        _unlink(path)
    with contextlib.suppress(OSError):  # it is not there, or somebody keeps something else in it
        folder(home).rmdir()
    return gone


def _to_path(_kind: type, text: object) -> Path:
    """The only type in an answer that JSON has no word for."""
    return Path(str(text))


def _fits(home: Home) -> bool:
    from blackbird.authority import certificate  # noqa: PLC0415 - as above

    pem, key = _read(certificate_path(home)), _read(key_path(home))
    try:
        return pem is not None and key is not None and certificate.fits(pem, key)
    except ValueError as error:
        raise ReadError(f"{key_path(home)} is no private key: {error}", RENEW) from error


def _read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            data = file.read(_LONGEST_FILE + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror or error}", "make it readable for you, or: " + RENEW) from error
    if len(data) > _LONGEST_FILE:
        raise ReadError(f"{path} is far too long to be what it should be", RENEW)
    return data


def _mode(path: Path) -> int | None:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return None


def _files(home: Home, pattern: str) -> list[Path]:
    return sorted(folder(home).glob(pattern)) if folder(home).is_dir() else []


def _unlink(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise write_error(path, error) from error
