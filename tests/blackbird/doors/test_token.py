"""The token of the door over HTTP."""

import stat
from pathlib import Path

import pytest

from blackbird.config.load import load
from blackbird.doors.token import token
from blackbird.home import Home
from blackbox.errors import ReadError


def home_of(folder: Path) -> Home:
    return Home(folder / "home", folder / "config.toml")


def test_it_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    home = home_of(tmp_path)
    config = load(home, variables={}, folder=tmp_path)
    made = token(home, config)
    assert len(made) >= 40
    assert token(home, config) == made
    assert stat.S_IMODE(home.mcp_token.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.run.stat().st_mode) == 0o700


def test_two_homes_have_two(tmp_path: Path) -> None:
    config = load(home_of(tmp_path), variables={}, folder=tmp_path)
    assert token(home_of(tmp_path / "a"), config) != token(home_of(tmp_path / "b"), config)


def test_that_of_the_settings_goes_first_and_is_kept_nowhere_else(tmp_path: Path) -> None:
    home = home_of(tmp_path)
    home.config_file.write_text('[mcp]\ntoken = "a-word-of-my-own-choice"\n')
    assert token(home, load(home, variables={}, folder=tmp_path)) == "a-word-of-my-own-choice"
    assert not home.mcp_token.exists()


def test_a_file_that_is_none_is_not_taken_for_one(tmp_path: Path) -> None:
    home = home_of(tmp_path)
    home.mcp_token.mkdir(parents=True)
    with pytest.raises(ReadError):
        token(home, load(home, variables={}, folder=tmp_path))
