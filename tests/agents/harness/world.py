"""A world of its own: a network namespace in which the hosts of all providers are this machine, and nothing else is.

`enter` starts a command in it. Inside, every provider's host name leads to 127.0.0.1, where the scripted provider
answers with certificates of a CA that only this world knows; there is no route to anywhere else.
"""

import datetime as dt
import os
import shutil
import ssl
import struct
import subprocess
import sys
from collections.abc import Sequence
from fcntl import ioctl
from pathlib import Path
from socket import AF_INET, SOCK_DGRAM, socket
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from blackbird.config import settings
from tests.agents.harness.cases import INSIDE

#: Hosts that clients call besides those of the models. They are answered with 404, as by anybody who knows nothing.
OTHERS = (
    "ab.chatgpt.com",
    "api.github.com",
    "auth.openai.com",
    "github.com",
    "models.dev",
    "models.opencode.ai",
    "play.googleapis.com",
    "raw.githubusercontent.com",
    "registry.npmjs.org",
)
_SET_FLAGS, _UP = 0x8914, 0x1


class NoWorld(Exception):
    """No namespace can be had here; says why."""


def hosts() -> tuple[str, ...]:
    """Every host of the world: those whose calls the recorder keeps, and the others."""
    built_in = [urlsplit(url) for url in settings.built_in_upstreams().values()]
    return (*sorted(url.hostname or "" for url in built_in if url.scheme == "https"), *OTHERS)


def enter(folder: Path, command: Sequence[str]) -> int:
    """Run a command inside; its exit code."""
    if shutil.which("unshare") is None or shutil.which("mount") is None:
        raise NoWorld("unshare and mount are needed, which Linux has (package util-linux)")
    names = "".join(f"127.0.0.1 {host}\n" for host in ("localhost", *hosts()))
    (folder / "hosts").write_text(names, encoding="utf-8")
    _issue(folder)
    apart = ["unshare", "--net", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode != 0:
        raise NoWorld("this user may not make namespaces (unshare --net --mount --map-root-user)")
    inner = [sys.executable, "-m", "tests.agents.harness.world", str(folder), *command]
    return subprocess.run([*apart, *inner], env={**os.environ, INSIDE: str(folder)}, check=False).returncode


def inside() -> Path:
    """The folder of the world that this process is in."""
    return Path(os.environ[INSIDE])


def authority() -> Path:
    """The certificates that are trusted inside."""
    return inside() / "ca.pem"


def context() -> ssl.SSLContext:
    """What the scripted provider shows."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(inside() / "leaf.pem")
    made.set_alpn_protocols(["http/1.1"])
    return made


def _issue(folder: Path) -> None:
    """A CA and one certificate for all hosts."""
    key, leaf_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "CA of the test world")])
    ca = _draft(issuer, issuer, key).add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    signed = ca.sign(key, hashes.SHA256())
    names = x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts()])
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "every provider")])
    leaf = (
        _draft(subject, issuer, leaf_key)
        .add_extension(names, critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = leaf_key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "ca.pem").write_bytes(signed.public_bytes(pem))
    (folder / "leaf.pem").write_bytes(leaf.public_bytes(pem) + private)


def _draft(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=7))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _settle(folder: Path) -> None:
    """Inside: bring loopback up, and let names be looked up in the world's own file alone."""
    with socket(AF_INET, SOCK_DGRAM) as any_socket:
        ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))
    (folder / "nsswitch").write_text("hosts: files\n", encoding="utf-8")
    for ours, theirs in (("hosts", "/etc/hosts"), ("nsswitch", "/etc/nsswitch.conf")):
        if Path(theirs).exists():
            subprocess.run(["mount", "--bind", str(folder / ours), theirs], check=True)


if __name__ == "__main__":
    _settle(Path(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606 - what `enter` was given
