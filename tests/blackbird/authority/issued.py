"""Certificates and keys as the recorder program would make them, and a program that hands them out."""

import datetime as dt
import hashlib
import json
from pathlib import Path
from typing import NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from blackbird.authority import ca
from blackbird.home import Home
from blackbird.recorder import program

BEGIN = dt.datetime(2026, 11, 15, 12, 0, 0, tzinfo=dt.UTC)
END = dt.datetime(2028, 11, 14, 12, 0, 0, tzinfo=dt.UTC)
HOSTS = ("api.anthropic.com", "api.openai.com")


class Issued(NamedTuple):
    """A certificate and its key, as PEM."""

    certificate: bytes
    key: bytes

    @property
    def fingerprint(self) -> str:
        """The hash of the certificate."""
        return x509.load_pem_x509_certificate(self.certificate).fingerprint(hashes.SHA256()).hex()


def issue(
    hosts: tuple[str, ...] | None = HOSTS, begin: dt.datetime = BEGIN, end: dt.datetime = END, name: str = "a CA"
) -> Issued:
    """A CA limited to some hosts, or with None one that is limited to nothing."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    draft = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) + 1)
        .not_valid_before(begin)
        .not_valid_after(end)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    )
    if hosts is not None:
        names: list[x509.GeneralName] = [x509.DNSName(host) for host in hosts]
        draft = draft.add_extension(x509.NameConstraints(names, None), critical=True)
    return Issued(
        draft.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ),
    )


def put(home: Home, issued: Issued) -> Issued:
    """Have a CA in a home."""
    folder = ca.folder(home)
    folder.mkdir(mode=0o700, exist_ok=True)
    for name, data in (("ca.pem", issued.certificate), ("ca.key", issued.key)):
        (folder / name).write_bytes(data)
        (folder / name).chmod(0o600)
    return issued


def install(monkeypatch: pytest.MonkeyPatch, folder: Path, answer: object, code: int = 0) -> Path:
    """A program in place of the recorder's: notes its arguments, and answers; where it noted them."""
    path, noted = folder / program.PROGRAM, folder / "arguments"
    (folder / "answer").write_text(json.dumps(answer), encoding="utf-8")
    script = f'#!/bin/bash\necho "$@" >> {noted}\ncat {folder / "answer"}\nexit {code}\n'
    path.write_text(script, encoding="utf-8")
    path.chmod(0o700)
    monkeypatch.setattr(program, "find", lambda: path)
    return noted
