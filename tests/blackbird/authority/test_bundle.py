"""The certificates for a child process: the system's, the user's and ours, in a file of ours."""

import ssl
import stat
from pathlib import Path

import pytest

from blackbird.authority import ca, roots
from blackbird.authority.bundle import bundle, join
from blackbird.home import Home
from blackbox.errors import ReadError
from tests.blackbird.authority.issued import issue, put
from tests.blackbird.recorder.twin import home_in

SYSTEM = issue(name="the system's").certificate.strip()
THEIRS = issue(name="the company's").certificate.strip()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setattr(roots, "_system", lambda: [SYSTEM])
    return home_in(tmp_path / "home")


@pytest.mark.requirement("PROXY-23")
def test_a_child_trusts_ours_besides_all_it_would_trust_anyway_and_nothing_else_is_touched(
    home: Home, tmp_path: Path
) -> None:
    ours = put(home, issue()).certificate.strip()
    theirs = tmp_path / "company.pem"
    theirs.write_bytes(b"# the company's\r\n" + THEIRS.replace(b"\n", b"\r\n") + b"\r\n" + SYSTEM + b"\n")
    before = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    path = bundle(home, {"NODE_EXTRA_CA_CERTS": str(theirs)})
    assert roots.split(path.read_bytes()) == [SYSTEM, THEIRS, ours]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.parent == ca.folder(home)
    assert sorted(file for file in tmp_path.rglob("*") if file.is_file()) == sorted([*before, path])
    assert len(ssl.create_default_context(cafile=path).get_ca_certs()) == 3


def test_the_same_certificates_are_the_same_file_left_alone(home: Home, tmp_path: Path) -> None:
    put(home, issue())
    first = bundle(home, {})
    written = first.stat().st_mtime_ns
    assert bundle(home, {"SSL_CERT_FILE": str(first)}) == first
    assert first.stat().st_mtime_ns == written
    first.write_bytes(b"something else")
    assert bundle(home, {}) == first
    assert roots.split(first.read_bytes())[0] == SYSTEM


def test_without_a_ca_there_is_no_bundle(home: Home) -> None:
    with pytest.raises(ReadError, match=r"ca\.pem: No such file") as failed:
        bundle(home, {})
    assert failed.value.remedy == "blackbird ca renew makes a new one"
    put(home, issue())
    ca.certificate_path(home).write_bytes(b"nothing")
    with pytest.raises(ReadError, match=r"ca\.pem is no certificate"):
        bundle(home, {})


def test_a_system_without_roots_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roots, "_system", list)
    assert roots.find({}) == roots.Roots(
        [], ["this system has no root certificates: programs trust the private CA and nothing else"]
    )


def test_a_folder_of_certificates_counts_and_what_cannot_be_read_is_told(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "certificates"
    folder.mkdir()
    (folder / "0123abcd.0").write_bytes(THEIRS + b"\n")
    (folder / "README").write_bytes(b"no certificate")
    found = roots.find({"SSL_CERT_DIR": f"{folder}:{tmp_path / 'none'}", "CURL_CA_BUNDLE": "/nowhere/at all.pem"})
    assert found.certificates == [SYSTEM, THEIRS]
    assert found.notes == ["CURL_CA_BUNDLE names /nowhere/at all.pem, which has no certificates that can be read"]


def test_the_systems_own_are_found_where_openssl_or_the_system_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    file = Path("/etc/ssl/certs/ca-certificates.crt")
    if not file.is_file():
        pytest.skip("this system keeps its roots elsewhere, or has none")
    assert len(roots.find({}).certificates) == len(dict.fromkeys(roots.split(file.read_bytes())))


def test_keys_and_trusted_forms_never_get_into_a_bundle() -> None:
    issued = issue()
    odd = SYSTEM.replace(b" CERTIFICATE", b" TRUSTED CERTIFICATE")
    assert roots.split(issued.key + odd + b"\n" + issued.certificate) == [issued.certificate.strip()]
    assert join([THEIRS, SYSTEM, THEIRS]) == THEIRS + b"\n" + SYSTEM + b"\n"
