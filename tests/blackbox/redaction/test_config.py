"""The user's configuration: where it stands, what it may say, and what is told when it is broken."""

from pathlib import Path

import pytest

from blackbox.errors import ReadError, UsageError
from blackbox.redaction.config import load_redactor, read_redactor
from blackbox.redaction.place import config_path

SECRET = "hunter2secret"


def write(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_file_stands_in_the_home_of_blackbird(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLACKBIRD_HOME", str(tmp_path))
    assert config_path() == tmp_path / "config.toml"


def test_without_a_home_it_stands_in_the_folder_of_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BLACKBIRD_HOME", raising=False)
    assert config_path().parts[-2:] == ("blackbird", "config.toml")


def test_missing_file_is_fine(tmp_path: Path) -> None:
    assert (
        read_redactor(tmp_path / "none" / "config.toml").redact("password=hunter2").text
        == "password=[redacted:password]"
    )


def test_other_tables_are_left_to_others(tmp_path: Path) -> None:
    assert read_redactor(write(tmp_path, "[recorder]\nport = 1\n")).redact("a").text == "a"


@pytest.mark.requirement("REDACT-04")
def test_a_user_switches_extends_and_allows(tmp_path: Path) -> None:
    rule = "[[redaction.rule]]\nid = 'mine'\nkind = 'mine'\npattern = 'hbr_[a-z]+'\n"
    text = f"[redaction]\noff = ['url']\nallow = ['hunter2']\n{rule}"
    redactor = read_redactor(write(tmp_path, text))
    assert redactor.redact("ftp://a:b1@c password=hunter2 password=hunter3 hbr_x").text == (
        "ftp://a:b1@c password=hunter2 password=[redacted:password] [redacted:mine]"
    )


@pytest.mark.requirement("REDACT-04")
def test_a_user_pins_a_version_of_the_rules(tmp_path: Path) -> None:
    redactor = read_redactor(write(tmp_path, "[redaction]\nruleset_version = '2026.11.2'\n"))
    assert redactor.version == "2026.11.2"
    assert redactor.redact("password=hunter2").text == "password=[redacted:password]"


def test_an_unknown_version_is_told_with_what_there_is(tmp_path: Path) -> None:
    path = write(tmp_path, "[redaction]\nruleset_version = '2026.11.22'\n")
    with pytest.raises(UsageError) as caught:
        read_redactor(path)
    assert str(caught.value).startswith(f"{path}: [redaction]: there is no rule set `2026.11.22`")
    assert caught.value.remedy == "did you mean 2026.11.2? there is 2026.11.2, 2026.11.3"


def test_loaded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLACKBIRD_HOME", str(tmp_path))
    load_redactor.cache_clear()
    try:
        assert load_redactor() is load_redactor()
    finally:
        load_redactor.cache_clear()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[redaction]\noff = [", ": no TOML: "),
        ("redaction = 1\n", ": [redaction]: Expected `object`, got `int`"),
        ("[redaction]\ncolour = 1\n", ": [redaction]: Object contains unknown field `colour`"),
        ("[redaction]\noff = 'entropy'\n", ": [redaction]: Expected `array`, got `str` - at `$.off`"),
        ("[redaction]\noff = ['x']\n", ": [redaction]: no class `x`"),
        (
            f"[redaction]\nallow = ['ok', '{SECRET}$']\n",
            ": [redaction]: `allow` number 2: `$` is not in the language",
        ),
        (f"[[redaction.rule]]\nid = 'r'\nkind = 'k'\npattern = '{SECRET}('\n", ": rule `r`: `pattern`: only (?:…)"),
        (
            f"[[redaction.rule]]\nid = 'r'\nkind = 'k'\npattern = '{SECRET}'\nanchors = ['x']\n",
            ": rule `r`: `pattern`: a match",
        ),
    ],
)
def test_mistakes_are_named_and_nothing_secret_is_told(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        read_redactor(path)
    assert str(caught.value).startswith(f"{path}{message}")
    assert SECRET not in str(caught.value) + caught.value.remedy


def test_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"a = '\xff'\n")
    with pytest.raises(UsageError, match="no UTF-8 at byte 5"):
        read_redactor(path)


def test_unreadable(tmp_path: Path) -> None:
    with pytest.raises(ReadError):
        read_redactor(tmp_path)
