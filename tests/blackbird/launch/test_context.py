"""Where a run takes place: what programs say, read."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from blackbird.launch.context import (
    Context,
    go_version,
    package_version,
    read_version,
    without_credentials,
)


@pytest.mark.parametrize(
    ("told", "version"),
    [
        ("2.1.197 (Claude Code)\n", "2.1.197"),
        ("codex-cli 0.166.0\n", "0.166.0"),
        ("git version 2.45.2\n", "2.45.2"),
        ("v22.23.3\n", "22.23.3"),
        ("rustc 1.85.0-nightly (abc 2025-01-01)\n", "1.85.0-nightly"),
        ("go1.26.8\ntime 2026\n", "1.26.8"),
        ("unreleased build\nmore", "unreleased build"),
        ("\n", None),
    ],
)
def test_a_version_is_found_in_what_a_program_says(told: str, version: str | None) -> None:
    assert read_version(told) == version


@pytest.mark.parametrize(
    ("remote", "shown"),
    [
        ("https://git.example/a/b.git", "https://git.example/a/b.git"),
        ("https://me:word@git.example/a/b.git", "https://git.example/a/b.git"),
        ("https://word@git.example:8443/a?token=word#x", "https://git.example:8443/a"),
        ("git@git.example:a/b.git", "git@git.example:a/b.git"),
        ("ssh://git@git.example/a", "ssh://git@git.example/a"),
        ("ssh://git:word@git.example:22/a", "ssh://git@git.example:22/a"),
        ("/srv/git/a.git", "/srv/git/a.git"),
        ("https://[bad/a", "https://"),
    ],
)
def test_no_credentials_stay_in_the_url_of_a_repository(remote: str, shown: str) -> None:
    assert without_credentials(remote) == shown


def test_the_version_of_a_program_that_came_by_npm(tmp_path: Path) -> None:
    package = tmp_path / "lib" / "node_modules" / "@x" / "agent"
    (package / "dist").mkdir(parents=True)
    (package / "dist" / "cli.js").write_text("")
    (package / "package.json").write_text(
        json.dumps({"name": "@x/agent", "version": "1.2.3", "bin": {"agent": "dist/cli.js"}})
    )
    (tmp_path / "bin").mkdir()
    for name in ("agent", "stranger"):
        (tmp_path / "bin" / name).symlink_to(package / "dist" / "cli.js")
    assert package_version(tmp_path / "bin" / "agent") == "1.2.3"
    assert package_version(tmp_path / "bin" / "stranger") is None
    assert package_version(tmp_path / "nowhere") is None


def test_the_version_of_go_is_in_the_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "go").write_text("")
    (tmp_path / "VERSION").write_text("go1.26.8\ntime 2026-10-01\n")
    assert go_version(str(tmp_path / "bin" / "go")) == "1.26.8"
    assert go_version(str(tmp_path / "go")) is None
    assert go_version(None) is None


def test_what_hangs_is_let_go(tmp_path: Path) -> None:
    for name, text in (("agent", "sleep 300"), ("git", "exit 1")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    stated: list[dict[str, Any]] = []
    both = threading.Barrier(2, timeout=30)

    def state(data: dict[str, Any]) -> None:
        stated.append(data)
        both.wait()

    context = Context("agent", ["--version"], {"PATH": f"{tmp_path}:/bin:/usr/bin"}, state)
    context.start()
    both.wait()
    context.finish(0)
    both.wait()
    assert [data.get("repository", "") for data in stated] == [None, ""]
    assert stated[1]["client_version"] is None
