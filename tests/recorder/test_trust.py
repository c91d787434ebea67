"""What clients make of the private CA: those that know of it, those that do not, and of what it cannot sign."""

import os
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tests.clients.peer import PATIENCE, Peer
from tests.clients.proxy import secured, trusting, tunnel
from tests.clients.upstream import Upstream
from tests.recorder.conftest import Start
from tests.recorder.harness import Recorder
from tests.recorder.test_authority import DAY, GET, HOST, NOW, ca, pem, recording, works


def forged(recorder: Recorder, folder: Path, host: str) -> ssl.SSLContext:
    """A server with a certificate that the recorder's key signed for another host."""
    secret = (recorder.home / "ca" / "ca.key").read_bytes()
    authority = serialization.load_pem_private_key(secret, None)
    assert isinstance(authority, ec.EllipticCurvePrivateKey)
    issuer = x509.load_pem_x509_certificate(pem(recorder).read_bytes())
    key = ec.generate_private_key(ec.SECP256R1())
    identifier = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    made = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "forged")]))
        .issuer_name(issuer.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - DAY / 2)
        .not_valid_after(NOW + DAY)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(authority, hashes.SHA256())
    )
    encoding, kind = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    chain = made.public_bytes(encoding) + key.private_bytes(encoding, kind, serialization.NoEncryption())
    (folder / "forged.pem").write_bytes(chain)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "forged.pem")
    return context


def node(script: str, certificate: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a script with Node, which trusts the certificate besides those it comes with."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("there is no node")
    environment = {"PATH": os.environ["PATH"], "NODE_EXTRA_CA_CERTS": str(certificate)}
    command = [program, "-e", script, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment)


THROUGH_THE_PROXY = """
const [port, host] = process.argv.slice(1);
const asked = require("http").request({host: "127.0.0.1", port, method: "CONNECT", path: host + ":443"});
asked.on("connect", (answer, socket) => {
  const secure = require("tls").connect({socket, servername: host, ALPNProtocols: ["h2", "http/1.1"]}, () => {
    secure.write("GET /v1/models HTTP/1.1\\r\\nHost: " + host + "\\r\\nConnection: close\\r\\n\\r\\n");
  });
  let heard = "";
  secure.on("data", (data) => { heard += data; });
  secure.on("end", () => console.log(secure.alpnProtocol, heard.split("\\r\\n\\r\\n")[1]));
  secure.on("error", (error) => { console.log(error.code); process.exit(1); });
});
asked.end();
"""

STRAIGHT = """
const [port, host] = process.argv.slice(1);
const secure = require("tls").connect({host: "127.0.0.1", port, servername: host}, () => {
  console.log("accepted"); secure.end();
});
secure.on("error", (error) => { console.log(error.code, error.message); process.exit(1); });
"""


@pytest.mark.requirement("PROXY-23")
def test_a_client_in_python_that_trusts_the_certificate(start: Start) -> None:
    with recording(start) as recorder:
        peer = tunnel(recorder, f"{HOST}:443")
        context = trusting(pem(recorder))
        context.set_alpn_protocols(["h2", "http/1.1"])
        with context.wrap_socket(peer.connection, server_hostname=HOST) as secure:
            assert secure.selected_alpn_protocol() == "http/1.1"
            assert Peer(secure).ask(GET).body == b"{}"


@pytest.mark.requirement("PROXY-23")
def test_an_older_client_is_served_too(start: Start) -> None:
    with recording(start) as recorder:
        peer = tunnel(recorder, f"{HOST}:443")
        context = trusting(pem(recorder))
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        with secured(peer, HOST, context) as secure:
            assert secure.ask(GET).body == b"{}"


@pytest.mark.requirement("PROXY-23")
def test_curl_that_trusts_the_certificate(start: Start) -> None:
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("there is no curl")
    with recording(start) as recorder:
        assert ca(recorder)[1]["state"] == "made"
        proxy = f"http://run_5:x@127.0.0.1:{recorder.port}"
        command = [curl, "-q", "-sS", "--cacert", str(pem(recorder)), "--capath", "/nowhere", "-x", proxy]
        done = subprocess.run(
            [*command, f"https://{HOST}/v1/models"], capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        assert (done.stdout, done.returncode) == ("{}", 0), done.stderr
        assert recorder.only().start["run"] == "run_5"


@pytest.mark.requirement("PROXY-23")
def test_node_that_trusts_the_certificate(start: Start, tmp_path: Path) -> None:
    with recording(start) as recorder:
        assert works(recorder)
        done = node(THROUGH_THE_PROXY, pem(recorder), str(recorder.port), HOST)
        assert (done.stdout, done.returncode) == ("http/1.1 {}\n", 0), done.stderr
        untold = node(THROUGH_THE_PROXY, tmp_path / "none.pem", str(recorder.port), HOST)
        assert (untold.stdout, untold.returncode) == ("UNABLE_TO_VERIFY_LEAF_SIGNATURE\n", 1), untold.stderr


@pytest.mark.requirement("PROXY-23")
def test_a_client_that_was_not_told_of_the_certificate_refuses_it(start: Start) -> None:
    with recording(start) as recorder:
        peer = tunnel(recorder, f"{HOST}:443")
        with pytest.raises(ssl.SSLCertVerificationError, match="unable to get local issuer certificate"):
            secured(peer, HOST, ssl.create_default_context())
        exchange = recorder.only()
        assert (exchange.start["method"], exchange.start["target"]) == ("CONNECT", f"{HOST}:443")
        assert (exchange.start["upstream"], exchange.start["via"]) == ("up", "forward")
        assert (exchange.error["where"], exchange.error["code"]) == ("client", "tls_failed")
        assert "UnknownCA" in exchange.error["message"]


@pytest.mark.requirement("PROXY-23")
def test_what_the_key_signs_for_another_host_is_refused(start: Start, tmp_path: Path) -> None:
    with recording(start) as recorder:
        assert works(recorder)
        server = forged(recorder, tmp_path, "bank.example")

        def handle(peer: Peer) -> None:
            with pytest.raises(OSError, match=r"alert|EOF|closed"):
                server.wrap_socket(peer.connection, server_side=True).recv(1)

        with Upstream(handle) as bank:
            context = ssl.create_default_context(cafile=str(pem(recorder)))
            with pytest.raises(ssl.SSLCertVerificationError, match="permitted subtree violation"):
                secured(Peer.connect(bank.port), "bank.example", context)
            done = node(STRAIGHT, pem(recorder), str(bank.port), "bank.example")
            assert "permitted subtree violation" in done.stdout
            assert done.returncode == 1
