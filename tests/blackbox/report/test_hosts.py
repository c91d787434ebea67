"""Hosts that calls reach."""

import pytest

from blackbox.report.hosts import Contact, commands_in, contacts_of, is_loopback
from tests.blackbox.session.logs import session_of


def reached(line: str) -> list[str]:
    (call,) = session_of(line + "\n").calls
    return [contact.name if contact.is_named else f"({contact.name})" for contact in contacts_of(call)]


@pytest.mark.requirement("AUDIT-03")
@pytest.mark.parametrize(
    ("line", "hosts"),
    [
        ("t:fetch https://Docs.Example.com:8443/a?b=c → [ok]", ["docs.example.com"]),
        ("t:shell \"curl -s -H 'A: b' api.example.com/v1 | jq .\" → [ok]", ["api.example.com"]),
        ('t:bash command="git clone git@forge.example.org:team/repo.git" → [ok]', ["forge.example.org"]),
        ('t:shell "ssh -p 2222 deploy@box.example.net uptime" → [ok]', ["box.example.net"]),
        ('t:shell "scp out.tar ops@copy.example.net:/srv" → [ok]', ["copy.example.net"]),
        ('t:run_shell_command command="git push" → [ok]', ["(a git remote)"]),
        ('t:exec_command cmd="curl api.example.com" → [ok]', ["api.example.com"]),
        ("t:shell command=[curl, api.example.com] → [ok]", ["api.example.com"]),
        ("t:git push origin main → [ok]", ["(a git remote)"]),
        ("t:git status → [ok]", []),
        ('t:shell "cd web && npm install && npm test" → [ok]', ["(the npm registry)"]),
        ('t:shell "pip install --index-url https://pypi.example.com/simple x" → [ok]', ["pypi.example.com"]),
        ("t:WebSearch query=rust → [ok]", ["(a web search)"]),
        ("c:http.get url=https://a.example/x → [ok]", ["a.example"]),
        ("t:shell \"echo 'see; curl quoted.example'\" → [ok]", []),
        ("t:read file:///etc/hosts → [ok]", []),
        ("t:grep https → [3 matches]", []),
        ('t:shell "curl http://user:pw@[::1]:8080/x" → [ok]', ["::1"]),
    ],
)
def test_hosts_of_a_call(line: str, hosts: list[str]) -> None:
    assert reached(line) == hosts


def test_result_of_a_call_names_no_host() -> None:
    assert reached("t:read notes.md → see https://elsewhere.example/") == []


def test_loopback() -> None:
    here = ["localhost", "127.0.0.1", "127.8.8.8", "::1", "0.0.0.0", "app.localhost"]  # noqa: S104 - no binding
    assert all(is_loopback(host) for host in here)
    assert not is_loopback("10.0.0.1")
    assert not Contact("a git remote", is_named=False).is_loopback


def test_commands_of_a_line() -> None:
    found = list(commands_in("sudo A=1 make -j2 && (cd x; ls 'a b') | wc"))
    assert found == [["make", "-j2"], ["cd", "x"], ["ls", "a b"], ["wc"]]


def test_command_with_an_odd_quote_is_split_all_the_same() -> None:
    assert list(commands_in("curl 'a.example; ls")) == [["curl", "'a.example"], ["ls"]]
