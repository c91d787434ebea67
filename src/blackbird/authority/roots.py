"""The certificates that programs here trust anyway: the system's, and those that variables of the user name."""

import os
import re
import ssl
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

#: Variables that name a file of certificates, by program: OpenSSL, Node, requests, curl, and others after them.
FILE_VARIABLES = (
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "AWS_CA_BUNDLE",
    "PIP_CERT",
    "CODEX_CA_CERTIFICATE",
)
FOLDER_VARIABLES = ("SSL_CERT_DIR",)
#: Where systems have their roots if the library that Python was built with looks elsewhere.
_USUAL = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
_PEM = re.compile(rb"-----BEGIN (?:TRUSTED )?CERTIFICATE-----\s.*?-----END (?:TRUSTED )?CERTIFICATE-----", re.DOTALL)
_PLAIN = b"-----BEGIN CERTIFICATE-----"
_LONGEST_FILE = 8 << 20
_MOST_FILES = 2000


class Roots(msgspec.Struct, frozen=True):
    """Certificates as PEM, each once, in the order they were found; `notes` say what could not be had."""

    certificates: list[bytes]
    notes: list[str] = []


def find(environ: Mapping[str, str]) -> Roots:
    """The system's certificates and those of the user's variables."""
    notes: list[str] = []
    found = dict.fromkeys(_system())
    if not found:
        notes.append("this system has no root certificates: programs trust the private CA and nothing else")
    for variable in (*FILE_VARIABLES, *FOLDER_VARIABLES):
        named = environ.get(variable)
        if not named:
            continue
        parts = named.split(os.pathsep) if variable in FOLDER_VARIABLES else [named]
        certificates = [each for part in parts for each in _read_any(Path(part))]
        if not certificates:
            notes.append(f"{variable} names {named}, which has no certificates that can be read")
        found.update(dict.fromkeys(certificates))
    return Roots(list(found), notes)


def split(pem: bytes) -> list[bytes]:
    """The certificates in a file of them, without the comments between; what is no certificate is left out."""
    return [block.replace(b"\r\n", b"\n") for block in _PEM.findall(pem) if block.startswith(_PLAIN)]


def _system() -> list[bytes]:
    paths = ssl.get_default_verify_paths()
    for file in dict.fromkeys([paths.openssl_cafile, *_USUAL]):
        certificates = _read_file(Path(file))
        if certificates:
            return certificates
    return _read_folder(Path(paths.openssl_capath))


def _read_any(path: Path) -> list[bytes]:
    return _read_folder(path) if path.is_dir() else _read_file(path)


def _read_folder(folder: Path) -> list[bytes]:
    return [each for path in _listed(folder) for each in _read_file(path)]


def _listed(folder: Path) -> Iterable[Path]:
    try:
        return sorted(path for _, path in zip(range(_MOST_FILES), _files(folder), strict=False))
    except OSError:
        return []


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.iterdir() if path.is_file())


def _read_file(path: Path) -> list[bytes]:
    """The certificates of a file; none if it cannot be read, or is a device, or longer than such files are."""
    try:
        if not path.is_file():
            return []
        with path.open("rb") as file:
            data = file.read(_LONGEST_FILE + 1)
    except (OSError, ValueError):
        return []
    return split(data) if len(data) <= _LONGEST_FILE else []
