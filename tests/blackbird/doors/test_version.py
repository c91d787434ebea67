"""The version that the server tells."""

import sys
from importlib import metadata
from pathlib import Path

import pytest

from blackbird.doors.version import version


def test_it_is_what_the_standard_library_says() -> None:
    version.cache_clear()
    assert version() == metadata.version("blackbird")


def test_without_a_folder_of_its_own_the_standard_library_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version.cache_clear()
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "missing")])
    with pytest.raises(metadata.PackageNotFoundError):
        version()
    version.cache_clear()
