"""The systemd unit: its text, where it goes, who may replace it."""

import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.errors import RecorderMissing
from blackbird.home import Home
from blackbird.recorder import program
from blackbird.service import systemd, unit
from blackbox.errors import UsageError

TEXT = unit.render(["/opt/bin/blackbird", "up", "--foreground"], {"BLACKBIRD_HOME": "/data/my home"}, 30)


def test_the_unit_runs_the_recorder_in_the_foreground() -> None:
    lines = TEXT.splitlines()
    assert lines[0] == unit.MARK
    assert "ExecStart=/opt/bin/blackbird up --foreground" in lines
    assert 'Environment="BLACKBIRD_HOME=/data/my home"' in lines
    assert "TimeoutStopSec=45" in lines
    assert {"Restart=on-failure", "NoNewPrivileges=yes", "UMask=0077", "WantedBy=default.target"} <= set(lines)
    assert "Environment=" not in unit.render(["/opt/bin/blackbird"], {}, 0)


@pytest.mark.parametrize(
    ("word", "as_value", "in_command"),
    [
        ("/usr/bin/x", "/usr/bin/x", "/usr/bin/x"),
        ("a b", '"a b"', '"a b"'),
        ("50%", '"50%%"', '"50%%"'),
        ("$HOME", '"$HOME"', '"$$HOME"'),
        ('say "x\\y"', '"say \\"x\\\\y\\""', '"say \\"x\\\\y\\""'),
        ("a\nb", '"a\\nb"', '"a\\nb"'),
        ("", '""', '""'),
    ],
)
def test_words_mean_nothing_to_systemd(word: str, as_value: str, in_command: str) -> None:
    assert unit.quote(word) == as_value
    assert unit.quote(word, command=True) == in_command


@given(st.text(max_size=30))
def test_no_word_can_begin_another_line(word: str) -> None:
    shown = unit.quote(word, command=True)
    assert "\n" not in shown
    assert unit.render([word], {"A": word}, 1).count("\nExecStart=") == 1


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze here")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    path = tmp_path / unit.NAME
    path.write_text(unit.render(["/bin/true", "up", "a b", "%$x"], {"BLACKBIRD_HOME": "/a %b"}, 30), encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", path], capture_output=True, text=True, check=False
    )
    if "Failed to initialize" in done.stderr or "Failed to connect" in done.stderr:
        pytest.skip("systemd-analyze does not work in this container")
    assert (done.returncode, done.stderr) == (0, "")


def test_it_goes_where_systemd_looks(tmp_path: Path) -> None:
    usual = tmp_path / ".config" / "systemd" / "user" / "blackbird.service"
    assert systemd.unit_path({}, tmp_path) == usual
    assert systemd.unit_path({"XDG_CONFIG_HOME": "relative"}, tmp_path) == usual
    assert systemd.unit_path({"XDG_CONFIG_HOME": "/etc/me"}, tmp_path) == Path(
        "/etc/me/systemd/user/blackbird.service"
    )


def test_one_of_ours_is_replaced_and_another_only_by_force(tmp_path: Path) -> None:
    path = tmp_path / "systemd" / "user" / unit.NAME
    assert systemd.write(path, TEXT, force=False) == (path, "written")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert systemd.write(path, TEXT, force=False) == (path, "unchanged")
    assert systemd.write(path, TEXT + "# more\n", force=False) == (path, "replaced")
    path.write_text("[Service]\nExecStart=/bin/false\n", encoding="utf-8")
    with pytest.raises(UsageError, match="was written by somebody else"):
        systemd.write(path, TEXT, force=False)
    assert path.read_text("utf-8") == "[Service]\nExecStart=/bin/false\n"
    assert systemd.write(path, TEXT, force=True) == (path, "replaced")
    assert path.read_text("utf-8") == TEXT


def test_a_home_that_was_chosen_is_told_to_the_unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = tmp_path / "blackbird"
    command.touch()
    monkeypatch.setattr(program, "install_folders", lambda: (tmp_path / "none", tmp_path))
    home = Home(tmp_path / "home", tmp_path / "config.toml")
    text = systemd.compose(home, ["--listen", "127.0.0.1:5"], {"BLACKBIRD_HOME": "home", "XDG_DATA_HOME": "/d"}, 1)
    assert f"ExecStart={command} up --foreground --listen 127.0.0.1:5\n" in text
    assert f"Environment=XDG_DATA_HOME=/d\nEnvironment=BLACKBIRD_HOME={home.path}\n" in text
    assert "Environment" not in systemd.compose(home, [], {}, 1)
    command.unlink()
    with pytest.raises(RecorderMissing, match="blackbird is not installed"):
        systemd.compose(home, [], {}, 1)
