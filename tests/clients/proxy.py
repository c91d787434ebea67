"""A client that has the recorder as its proxy: asks for tunnels, and speaks TLS through them."""

import base64
import ssl
from pathlib import Path

from tests.clients.peer import Message, Peer
from tests.recorder.harness import Recorder


def credentials(user: str, password: str = "") -> bytes:
    """The field by which a client tells its proxy who it is."""
    return b"Proxy-Authorization: Basic " + base64.b64encode(f"{user}:{password}".encode())


def connect_request(authority: str, *fields: bytes) -> bytes:
    """What asks for a tunnel."""
    line = f"CONNECT {authority} HTTP/1.1".encode()
    return b"\r\n".join([line, b"Host: " + authority.encode(), *fields, b"", b""])


def refused(recorder: Recorder, authority: str, *fields: bytes) -> Message:
    """The answer to a tunnel that is not opened."""
    with recorder.client() as client:
        return client.ask(connect_request(authority, *fields))


def tunnel(recorder: Recorder, authority: str, *fields: bytes) -> Peer:
    """A tunnel."""
    peer = recorder.client()
    peer.send(connect_request(authority, *fields))
    assert peer.until(b"\r\n\r\n") == b"HTTP/1.1 200 Connection established\r\n\r\n"
    return peer


def trusting(certificate: Path) -> ssl.SSLContext:
    """A client that trusts one certificate, and is as strict as can be."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(certificate)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    return context


def secured(peer: Peer, host: str, context: ssl.SSLContext) -> Peer:
    """The same connection under TLS."""
    return Peer(context.wrap_socket(peer.connection, server_hostname=host))


def inside(recorder: Recorder, authority: str, *fields: bytes) -> Peer:
    """A tunnel to a host that is recorded, under TLS by the recorder's certificate."""
    peer = tunnel(recorder, authority, *fields)
    return secured(peer, authority.rpartition(":")[0], trusting(recorder.home / "ca" / "ca.pem"))
