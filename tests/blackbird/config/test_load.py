"""Which files are read."""

from pathlib import Path

import pytest

from blackbird.config.load import PROJECT_FILE, find_project, load
from blackbird.errors import ConfigError
from blackbird.home import Home
from blackbox.errors import ReadError


def home_in(folder: Path, text: str | None = None) -> Home:
    home = Home(folder / "home", folder / "home" / "config.toml")
    if text is not None:
        home.path.mkdir()
        home.config_file.write_text(text, encoding="utf-8")
    return home


def test_without_any_file_the_defaults_hold(tmp_path: Path) -> None:
    config = load(home_in(tmp_path), variables={}, folder=tmp_path)
    assert {each.origin.level for each in config.assignments.values()} == {"default"}


@pytest.mark.requirement("CONFIG-11")
def test_every_layer_is_read_and_its_place_is_told(tmp_path: Path) -> None:
    home = home_in(tmp_path, "[trace]\nretention_days = 7\n[retrieval]\nk_default = 3\n")
    project = tmp_path / PROJECT_FILE
    project.write_text("[context]\nbudget_tokens = 700\n[retrieval]\nk_default = 4\n", encoding="utf-8")
    variables = {"BLACKBIRD_PROXY_MODE": "privacy"}
    config = load(home, [("--listen", "proxy.listen", "127.0.0.1:5")], variables=variables, folder=tmp_path)
    told = {
        name: (each.value, str(each.origin))
        for name, each in config.assignments.items()
        if each.origin.level != "default"
    }
    assert told == {
        "proxy.listen": ("127.0.0.1:5", "--listen"),
        "proxy.mode": ("privacy", "BLACKBIRD_PROXY_MODE"),
        "trace.retention_days": (7, f"{home.config_file}:2"),
        "context.budget_tokens": (700, f"{project}:2"),
        "retrieval.k_default": (4, f"{project}:4"),
    }


def test_a_file_that_is_no_utf8_is_told(tmp_path: Path) -> None:
    home = home_in(tmp_path, "")
    home.config_file.write_bytes(b"# \xff")
    with pytest.raises(ConfigError, match=r"config\.toml: no UTF-8 at byte 2"):
        load(home, variables={}, folder=tmp_path)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    home = home_in(tmp_path, "")
    home.config_file.unlink()
    home.config_file.mkdir()
    with pytest.raises(ReadError, match=r"config\.toml: Is a directory"):
        load(home, variables={}, folder=tmp_path)


def test_a_file_that_is_far_too_long_is_not_read(tmp_path: Path) -> None:
    home = home_in(tmp_path, "#" * (1 << 20) + "\n")
    with pytest.raises(ConfigError, match=r"config\.toml: larger than 1 MiB"):
        load(home, variables={}, folder=tmp_path)


def place(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PROJECT_FILE).touch()
    return folder / PROJECT_FILE


def test_the_nearest_file_of_the_repository_counts(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    root, near = place(tmp_path / "repo"), place(tmp_path / "repo" / "a")
    place(tmp_path)
    deep = tmp_path / "repo" / "a" / "b"
    deep.mkdir()
    assert find_project(deep, tmp_path / "nobody") == near
    near.unlink()
    assert find_project(deep, tmp_path / "nobody") == root
    root.unlink()
    assert find_project(deep, tmp_path / "nobody") is None


def test_outside_of_a_repository_the_search_ends_below_the_users_home(tmp_path: Path) -> None:
    place(tmp_path / "me")
    deep = tmp_path / "me" / "work" / "deep"
    deep.mkdir(parents=True)
    assert find_project(deep, tmp_path / "me") is None
    work = place(tmp_path / "me" / "work")
    assert find_project(deep, tmp_path / "me") == work
    assert find_project(tmp_path / "me", tmp_path / "me") == tmp_path / "me" / PROJECT_FILE


def test_elsewhere_only_the_folder_itself_counts(tmp_path: Path) -> None:
    place(tmp_path)
    deep = tmp_path / "deep"
    deep.mkdir()
    assert find_project(deep, tmp_path / "nobody") is None
    assert find_project(tmp_path, tmp_path / "nobody") == tmp_path / PROJECT_FILE
