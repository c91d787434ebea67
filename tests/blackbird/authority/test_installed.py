"""The CA as the recorder program that is installed makes it, read back from here."""

import datetime as dt
import ssl
import stat
import sys
from pathlib import Path

import pytest

from blackbird.authority import ca, roots
from blackbird.authority.bundle import bundle
from blackbird.authority.problems import Level, problems
from blackbird.errors import RecorderRefused
from blackbird.home import Home
from tests.blackbird.authority.issued import issue

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the recorder is not built on Windows")

SHIPPED = ["api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com"]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home", tmp_path / "home" / "config.toml")


@pytest.mark.requirement("PROXY-23")
def test_it_is_limited_to_the_hosts_of_the_upstreams_and_kept_until_they_change(home: Home) -> None:
    made = ca.ensure(home)
    assert (made.state, [host for host in made.hosts if host in SHIPPED]) == ("made", SHIPPED)
    found = ca.read(home)
    assert found is not None
    assert (found.certificate, found.hosts, found.fingerprint) == (made.certificate, made.hosts, made.fingerprint)
    assert (found.not_before, found.not_after) == (made.not_before, made.not_after)
    assert ca.ensure(home).state == "kept"
    home.config_file.write_text('[upstreams]\ngateway = "https://gateway.example/x"\n', encoding="utf-8")
    changed = ca.ensure(home)
    assert (changed.state, sorted(set(changed.hosts) - set(made.hosts))) == ("reissued", ["gateway.example"])
    assert ca.inspect(home).key_fits is True


def test_it_is_sound_and_for_its_owner_alone(home: Home) -> None:
    made = ca.ensure(home)
    now = dt.datetime.now(dt.UTC)
    assert [each.weight for each in problems(ca.inspect(home), ca.key_path(home), now)] == [Level.OK]
    assert stat.S_IMODE(ca.key_path(home).stat().st_mode) == 0o600
    assert stat.S_IMODE(ca.folder(home).stat().st_mode) == 0o700
    assert dt.timedelta(days=729) <= made.not_after - now <= dt.timedelta(days=731)


def test_renewing_leaves_nothing_of_the_old_one(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roots, "_system", list)
    old = ca.ensure(home)
    first = bundle(home, {})
    key = ca.key_path(home).read_bytes()
    new = ca.ensure(home, renew=True)
    assert (new.state, first.exists()) == ("renewed", False)
    assert new.fingerprint != old.fingerprint
    assert ca.key_path(home).read_bytes() != key
    (trusted,) = ssl.create_default_context(cafile=bundle(home, {})).get_ca_certs()
    assert dict(part[0] for part in trusted["subject"])["commonName"].startswith("Blackbird private CA ")  # type: ignore[misc]  # a nested tuple of pairs


@pytest.mark.parametrize("what", ["certificate", "mode"])
def test_one_that_cannot_be_trusted_is_refused_until_it_is_renewed(home: Home, what: str) -> None:
    ca.ensure(home)
    if what == "certificate":
        ca.certificate_path(home).write_bytes(issue().certificate)
    else:
        ca.key_path(home).chmod(0o644)
    with pytest.raises(RecorderRefused) as refused:
        ca.ensure(home)
    assert "blackbird ca renew" in refused.value.remedy
    assert ca.ensure(home, renew=True).state == "renewed"
    assert ca.inspect(home).key_fits is True
    assert stat.S_IMODE(ca.key_path(home).stat().st_mode) == 0o600
