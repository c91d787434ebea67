"""The private CA: for the hosts that are recorded and no others, for its owner alone, and never used when damaged."""

import datetime as dt
import json
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from tests.clients.peer import PATIENCE
from tests.clients.proxy import inside, refused, secured, trusting, tunnel
from tests.clients.upstream import Upstream, answering
from tests.recorder.conftest import Start
from tests.recorder.harness import Recorder, recorder_program
from tests.recorder.test_refusals import code_of

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
HOST = "api.anthropic.com"
DAY = dt.timedelta(days=1)
NOW = dt.datetime.now(dt.UTC)
GET = b"GET /v1/models HTTP/1.1\r\nHost: api.anthropic.com\r\n\r\n"


@contextmanager
def recording(start: Start, *hosts: str, **settings: Any) -> Iterator[Recorder]:
    """A recorder that records some hosts under TLS."""
    with Upstream(answering(OK)) as upstream:
        intercept = {f"{host}:443": "up" for host in hosts or (HOST,)}
        yield start(upstreams={"up": upstream.url}, intercept=intercept, **settings)


def pem(recorder: Recorder) -> Path:
    return recorder.home / "ca" / "ca.pem"


def works(recorder: Recorder, host: str = HOST) -> bool:
    with inside(recorder, f"{host}:443") as client:
        return client.ask(GET).body == b"{}"


def ca(recorder: Recorder, *words: str) -> tuple[int, Any]:
    """What `blackbird-recorder ca` answers, with the configuration of a recorder."""
    command = [str(recorder_program()), "ca", "--config", str(recorder.run / "recorder.json"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.stdout.count("\n") == 1
    return done.returncode, json.loads(done.stdout)


def written(home: Path, **settings: Any) -> Recorder:
    """A recorder that does not run, with its configuration."""
    recorder = Recorder(home, upstreams={"up": "http://127.0.0.1:9"}, **settings)
    recorder.run.mkdir(parents=True)
    (recorder.run / "recorder.json").write_text(json.dumps(recorder.config))
    return recorder


@pytest.mark.requirement("PROXY-23")
def test_the_certificate_says_what_it_is_good_for(start: Start) -> None:
    with recording(start, HOST, "api.openai.com") as recorder:
        assert works(recorder)
        made = x509.load_pem_x509_certificate(pem(recorder).read_bytes())
        key = made.public_key()
        assert isinstance(key, ec.EllipticCurvePublicKey)
        assert key.curve.name == "secp256r1"
        information = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        digest = hashes.Hash(hashes.SHA256())
        digest.update(information)
        assert made.subject.rfc4514_string() == f"CN=Blackbird private CA {digest.finalize().hex()[:8]}"
        assert made.issuer == made.subject
        basic = made.extensions.get_extension_for_class(x509.BasicConstraints)
        assert (basic.critical, basic.value.ca, basic.value.path_length) == (True, True, 0)
        usage = made.extensions.get_extension_for_class(x509.KeyUsage)
        assert (usage.critical, usage.value.key_cert_sign, usage.value.crl_sign) == (True, True, True)
        assert not usage.value.digital_signature
        names = made.extensions.get_extension_for_class(x509.NameConstraints)
        assert names.critical
        permitted = [name.value for name in names.value.permitted_subtrees or []]
        excluded = [str(name.value) for name in names.value.excluded_subtrees or []]
        assert permitted == ["api.anthropic.com", "api.openai.com"]
        assert excluded == ["0.0.0.0/0", "::/0"]
        assert made.not_valid_after_utc - made.not_valid_before_utc == 731 * DAY
        assert abs(NOW - DAY - made.not_valid_before_utc) < dt.timedelta(hours=1)


@pytest.mark.requirement("PROXY-23")
def test_the_certificate_of_a_host_is_short_lived_and_for_that_host_alone(start: Start) -> None:
    with recording(start) as recorder:
        peer = tunnel(recorder, f"{HOST}:443")
        with trusting(pem(recorder)).wrap_socket(peer.connection, server_hostname=HOST) as secure:
            shown = secure.getpeercert(binary_form=True)
        assert shown is not None
        leaf = x509.load_der_x509_certificate(shown)
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        assert list(names) == [x509.DNSName(HOST)]
        assert leaf.not_valid_after_utc - leaf.not_valid_before_utc == 31 * DAY
        usage = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        assert list(usage) == [ExtendedKeyUsageOID.SERVER_AUTH]


@pytest.mark.requirement("PROXY-23")
def test_key_and_folder_are_for_their_owner_alone(home: Path) -> None:
    with Upstream(answering(OK)) as upstream:
        recorder = Recorder(home, upstreams={"up": upstream.url}, intercept={f"{HOST}:443": "up"}).start(umask=0)
        try:
            assert works(recorder)
        finally:
            recorder.stop()
    folder = home / "ca"
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.iterdir()]}
    assert modes == {"ca": 0o700, "ca.pem": 0o600, "ca.key": 0o600, "lock": 0o600}


@pytest.mark.requirement("PROXY-23")
def test_a_key_that_others_could_read_is_not_used_until_it_is_renewed(start: Start) -> None:
    with recording(start) as recorder:
        assert works(recorder)
        key, before = recorder.home / "ca" / "ca.key", pem(recorder).read_bytes()
        key.chmod(0o644)
        answer = refused(recorder, f"{HOST}:443")
        assert (answer.head.status, code_of(answer)) == (502, "ca_unusable")
        message = json.loads(answer.body)["error"]["message"]
        assert str(key) in message
        assert "mode 0644" in message
        assert "blackbird ca renew" in message
        error = recorder.exchanges(1, after=1)[0].error
        assert (error["where"], error["code"], error["message"]) == ("recorder", "ca_unusable", message)
        code, told = ca(recorder)
        assert (code, told["ok"], told["code"]) == (1, False, "ca_unusable")
        assert "blackbird ca renew" in told["remedy"]
        assert pem(recorder).read_bytes() == before
        code, told = ca(recorder, "--renew")
        assert (code, told["state"]) == (0, "renewed")
        assert pem(recorder).read_bytes() != before
        assert works(recorder)


@pytest.mark.requirement("PROXY-23")
def test_a_foreign_certificate_is_not_used(start: Start, tmp_path: Path) -> None:
    other = written(tmp_path / "other", intercept={f"{HOST}:443": "up"})
    assert ca(other)[1]["state"] == "made"
    with recording(start) as recorder:
        assert works(recorder)
        shutil.copy(pem(other), pem(recorder))
        answer = refused(recorder, f"{HOST}:443")
        assert (answer.head.status, code_of(answer)) == (502, "ca_unusable")
        message = json.loads(answer.body)["error"]["message"]
        assert f"{pem(recorder)}, does not belong to the key beside it" in message
        assert message.endswith("run 'blackbird ca renew' to have key and certificate made anew")
        assert pem(recorder).read_bytes() == pem(other).read_bytes()


@pytest.mark.requirement("PROXY-23")
def test_new_hosts_are_vouched_for_by_the_same_key(home: Path) -> None:
    with Upstream(answering(OK)) as upstream:
        hosts = [f"{HOST}:443"]
        states, old, told = [], home.with_name("old.pem"), {"fingerprint": ""}
        for added in ("", "api.openai.com:443"):
            hosts += [added] if added else []
            with Recorder(home, upstreams={"up": upstream.url}, intercept=dict.fromkeys(hosts, "up")) as recorder:
                code, told = ca(recorder)
                assert (code, told["certificate"]) == (0, str(pem(recorder)))
                states.append((told["state"], told["hosts"]))
                if not added:
                    shutil.copy(pem(recorder), old)
                peer = secured(tunnel(recorder, f"{HOST}:443"), HOST, trusting(old))
                assert peer.ask(GET).body == b"{}"
                peer.close()
        assert states == [("made", [HOST]), ("reissued", [HOST, "api.openai.com"])]
        one, other = (x509.load_pem_x509_certificate(path.read_bytes()) for path in (old, home / "ca" / "ca.pem"))
        assert one.public_key() == other.public_key()
        assert one.subject == other.subject
        assert one.fingerprint(hashes.SHA256()) != other.fingerprint(hashes.SHA256())
        assert other.fingerprint(hashes.SHA256()).hex() == told["fingerprint"]
        assert other.not_valid_after_utc.strftime("%Y-%m-%dT%H:%M:%S.000Z") == told["not_after"]
        assert other.not_valid_before_utc.strftime("%Y-%m-%dT%H:%M:%S.000Z") == told["not_before"]


@pytest.mark.requirement("PROXY-23")
@pytest.mark.parametrize("left", [29, -1])
def test_a_certificate_that_ends_is_issued_anew_with_the_same_key(start: Start, left: int) -> None:
    with recording(start) as recorder:
        assert works(recorder)
        key = (recorder.home / "ca" / "ca.key").read_bytes()
        age(recorder, left)
        assert works(recorder)
        assert (recorder.home / "ca" / "ca.key").read_bytes() == key
        renewed = x509.load_pem_x509_certificate(pem(recorder).read_bytes())
        assert renewed.not_valid_after_utc - NOW > 700 * DAY


def age(recorder: Recorder, left: int) -> None:
    """Have the certificate end so many days from now."""
    authority = serialization.load_pem_private_key((recorder.home / "ca" / "ca.key").read_bytes(), None)
    assert isinstance(authority, ec.EllipticCurvePrivateKey)
    known = x509.load_pem_x509_certificate(pem(recorder).read_bytes())
    aged = x509.CertificateBuilder(
        issuer_name=known.issuer,
        subject_name=known.subject,
        public_key=known.public_key(),
        serial_number=known.serial_number,
        not_valid_before=NOW - 730 * DAY,
        not_valid_after=NOW + left * DAY,
        extensions=list(known.extensions),
    )
    signed = aged.sign(authority, hashes.SHA256())
    pem(recorder).write_bytes(signed.public_bytes(serialization.Encoding.PEM))


@pytest.mark.requirement("PROXY-23")
def test_a_folder_that_was_removed_is_made_anew(start: Start) -> None:
    with recording(start) as recorder:
        assert works(recorder)
        before = pem(recorder).read_bytes()
        shutil.rmtree(recorder.home / "ca")
        assert works(recorder)
        assert pem(recorder).read_bytes() != before


@pytest.mark.requirement("PROXY-23")
def test_a_folder_that_cannot_be_made_stops_interception_alone(start: Start) -> None:
    with recording(start) as recorder:
        (recorder.home / "ca").write_text("in the way")
        answer = refused(recorder, f"{HOST}:443")
        assert (answer.head.status, code_of(answer)) == (502, "ca_unusable")
        message = json.loads(answer.body)["error"]["message"]
        assert f"the private CA at {recorder.home / 'ca'} cannot be read or written" in message
        assert message.endswith("see that the folder is yours and can be written")
        assert recorder.ask(b"GET /up/v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n").body == b"{}"
        code, told = ca(recorder)
        assert (code, told["code"]) == (1, "ca_unwritable")
        (recorder.home / "ca").unlink()
        assert works(recorder)


def test_addresses_can_be_recorded_as_well(start: Start) -> None:
    with recording(start, "127.0.0.1") as recorder:
        assert works(recorder, "127.0.0.1")
        names = x509.load_pem_x509_certificate(pem(recorder).read_bytes()).extensions.get_extension_for_class(
            x509.NameConstraints
        )
        assert [str(name.value) for name in names.value.permitted_subtrees or []] == [
            "blackbird.invalid",
            "127.0.0.1/32",
        ]
        assert names.value.excluded_subtrees is None


def test_a_configuration_that_cannot_be_read_is_told_as_json(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "home")
    code, told = ca(recorder)
    assert (code, told["ok"], told["code"]) == (1, False, "bad_config")


@pytest.mark.parametrize("intercept", [{"api.example": "up"}, {"api.example:443": "nobody"}])
def test_a_table_of_hosts_that_cannot_be_used_is_told(tmp_path: Path, intercept: dict[str, str]) -> None:
    code, told = ca(written(tmp_path / "home", intercept=intercept))
    assert (code, told["code"]) == (1, "bad_config")
    assert "api.example" in told["message"]
