"""The table of clients: whole, and with what every entry needs."""

import re

import pytest

from blackbird.agents import table
from blackbird.agents.table import Client
from blackbird.config import settings

NAMES = ["claude", "codex", "gemini", "opencode", "qwen", "pi", "copilot", "aider", "llm", "mini", "other"]


def test_each_client_is_there_once() -> None:
    assert [client.name for client in table.clients()] == NAMES


@pytest.mark.parametrize(
    ("program", "name"),
    [("claude", "claude"), ("/usr/local/bin/codex", "codex"), ("./gemini", "gemini"), ("mini-extra", "mini")],
)
def test_a_client_is_found_by_the_name_of_its_program(program: str, name: str) -> None:
    found = table.find(program)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("program", ["python3", "other", "claude.py", "claude-old", ""])
def test_other_programs_are_no_client(program: str) -> None:
    assert table.find(program) is None


def test_the_entry_for_other_programs_is_last() -> None:
    assert table.clients()[-1] == table.other()


@pytest.mark.parametrize("client", table.clients(), ids=lambda client: client.name)
def test_an_entry_is_complete(client: Client) -> None:
    assert client.why
    assert not client.why.endswith(".")
    assert [name for name in client.variables if name not in table.table().variable] == []
    assert bool(client.programs) is (client.name != table.OTHER)
    ways = bool(client.variables or client.arguments or client.inline)
    assert client.mode == "forward" or ways, "a client that takes no base URL needs forward mode"


def test_no_program_belongs_to_two_clients() -> None:
    programs = [program for client in table.clients() for program in client.programs]
    assert len(programs) == len(set(programs))


def test_upstreams_of_the_table_are_there_without_being_set() -> None:
    named = {about.upstream for about in table.table().variable.values() if not about.only_set}
    for client in table.clients():
        texts = [*client.arguments, str(client.inline.content if client.inline else "")]
        named |= {name for text in texts for name in re.findall(r"\{([a-z]+)\}", text)}
        named |= {setting.upstream for setting in client.files}
    assert named <= settings.built_in_upstreams().keys()
