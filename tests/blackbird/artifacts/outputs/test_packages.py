"""Managers of packages: older words, and what went well."""

import pytest

from tests.blackbird.artifacts.outputs.told import told

OLD_NPM = """\
> shop@1.0.0 test
> jest

npm ERR! code ELIFECYCLE
npm ERR! errno 1
npm ERR! shop@1.0.0 test: `jest`
npm ERR! Exit status 1
"""


def test_an_older_npm_names_the_script_that_failed() -> None:
    (found,) = told(OLD_NPM)
    assert (found.tool, found.kind, found.ok, found.names) == ("npm", "run", False, ("test",))
    assert found.first_error == "npm ERR! shop@1.0.0 test: `jest`"


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("added 3 packages, and audited 4 packages in 2s\n", "npm"),
        ("up to date, audited 393 packages in 1s\n", "npm"),
        ("Successfully installed six-1.17.0\n", "pip"),
        ("Resolved 12 packages in 4ms\nInstalled 2 packages in 3ms\n + six==1.17.0\n", "uv"),
        ("Resolved 12 packages in 4ms\nAudited 11 packages in 0.05ms\n", "uv"),
    ],
)
def test_what_was_installed(text: str, tool: str) -> None:
    assert [(one.tool, one.kind, one.ok) for one in told(text)] == [(tool, "install", True)]


def test_a_script_that_went_well_says_nothing_of_itself() -> None:
    assert told("> shop@1.0.0 start\n> node server.js\n\nlistening\n") == []
