"""`blackbird config`."""

from pathlib import Path

import pytest

from blackbird.config import settings
from tests.blackbird.cli.command import Place, place


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    return place(tmp_path, monkeypatch, capsys)


@pytest.mark.requirement("CONFIG-11")
def test_a_value_and_where_it_was_set(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    here.home.config_file.write_text('[trace]\nmax_size = "2 GiB"\n', encoding="utf-8")
    monkeypatch.setenv("BLACKBIRD_TRACE_SEAL", "false")
    done = here.run("config", "show", "trace")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "trace.retention_days = (off)  # default",
        f'trace.max_size       = "2 GiB"  # {here.home.config_file}:2',
        'trace.rotate_size    = "128 MiB"  # default',
        'trace.rotate_age     = "1 h"  # default',
        'trace.persist        = "grouped"  # default',
        'trace.sync_interval  = "20 ms"  # default',
        "trace.seal           = false  # BLACKBIRD_TRACE_SEAL",
    ]


def test_without_a_name_all_settings_are_shown(here: Place) -> None:
    done = here.run("config")
    names = [line.split()[0] for line in done.out.splitlines()]
    upstreams = [f"upstreams.{name}" for name in sorted(settings.built_in_upstreams())]
    assert names == [*settings.known(), *upstreams]
    assert here.run("config", "show").out == done.out


def test_what_nothing_reads_yet_says_so(here: Place) -> None:
    told = here.run("config", "show", "enrichment.local_endpoint").out
    assert told == "enrichment.local_endpoint = (off)  # default  (not read yet)\n"
    assert here.run("config", "show", "memory.mode").out == 'memory.mode = "deterministic"  # default\n'


def test_a_token_is_never_shown(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLACKBIRD_PROXY_TOKEN", "a-long-random-word")
    plain, as_json = here.run("config", "show"), here.run("config", "show", "--json")
    assert "a-long-random-word" not in plain.out + plain.err + as_json.out + as_json.err
    assert 'proxy.token                  = "(set, not shown)"  # BLACKBIRD_PROXY_TOKEN\n' in plain.out


def test_json(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLACKBIRD_PROXY_MODE", "privacy")
    assert here.run("config", "show", "--json", "proxy.mode").json == {
        "schema": "config/1",
        "settings": [
            {
                "name": "proxy.mode",
                "value": "privacy",
                "origin": "environment",
                "where": "BLACKBIRD_PROXY_MODE",
                "read_by": "recorder",
                "help": settings.known()["proxy.mode"].help,
            }
        ],
    }


@pytest.mark.requirement("CONFIG-13")
def test_an_unknown_name_is_answered_with_the_nearest(here: Place) -> None:
    done = here.run("config", "show", "proxy.listn", "--json")
    assert (done.code, done.out) == (2, "")
    assert done.error == {
        "code": "config",
        "message": "there is no setting proxy.listn",
        "remedy": "did you mean proxy.listen?",
    }


@pytest.mark.requirement("CONFIG-12")
def test_a_project_that_routes_is_refused(here: Place, tmp_path: Path) -> None:
    (tmp_path / ".blackbird.toml").write_text('[upstreams]\nanthropic = "https://x.example"\n', encoding="utf-8")
    done = here.run("config", "show")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"✗ {tmp_path}/.blackbird.toml:2: upstreams.anthropic is not for a project's file: "
        "a cloned repository would decide where your traffic and your keys go\n"
        "  set it in your own file; blackbird config path tells where that is\n"
    )


def test_path(here: Place, tmp_path: Path) -> None:
    assert here.run("config", "path") == (0, f"{here.home.config_file}\n", "")
    project = tmp_path / ".blackbird.toml"
    project.touch()
    done = here.run("config", "path")
    assert done == (0, f"{here.home.config_file}\n", f"Here {project} is read, too.\n")
    body = {"user": str(here.home.config_file), "project": str(project)}
    assert here.run("config", "path", "--json").json == {"schema": "config-path/1", **body}
