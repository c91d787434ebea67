"""What a certificate says of itself, and whether a private key is its own."""

import datetime as dt

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

#: A CA for no host at all is limited to a name that nobody can have.
_NOBODY = ".invalid"


class Content(msgspec.Struct, frozen=True):
    """The part of a certificate that counts here; `hosts` are all it may speak for."""

    subject: str
    hosts: list[str]
    not_before: dt.datetime
    not_after: dt.datetime
    fingerprint: str


def parse(pem: bytes) -> Content:
    """What a certificate says. Raises `ValueError` if it is none, or not one that is limited to some hosts."""
    certificate = x509.load_pem_x509_certificate(pem)
    try:
        limits = certificate.extensions.get_extension_for_class(x509.NameConstraints).value
    except x509.ExtensionNotFound:
        raise ValueError("it is not limited to any hosts") from None
    return Content(
        certificate.subject.rfc4514_string(),
        sorted(host for host in map(_host, limits.permitted_subtrees or []) if not host.endswith(_NOBODY)),
        certificate.not_valid_before_utc,
        certificate.not_valid_after_utc,
        certificate.fingerprint(hashes.SHA256()).hex(),
    )


def fits(pem: bytes, key: bytes) -> bool:
    """Whether a private key belongs to a certificate. Raises `ValueError` if one of them cannot be read."""
    try:
        private = serialization.load_pem_private_key(key, password=None)
    except TypeError:
        raise ValueError("the key has a password") from None
    form = (serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    public = x509.load_pem_x509_certificate(pem).public_key()
    return private.public_key().public_bytes(*form) == public.public_bytes(*form)


def _host(name: x509.GeneralName) -> str:
    """A host as people write it: an address without its mask if that leaves but one."""
    if isinstance(name, x509.IPAddress):
        return str(name.value).removesuffix("/32").removesuffix("/128")
    return str(name.value)
