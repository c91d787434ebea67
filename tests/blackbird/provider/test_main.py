"""`python -m blackbird.provider` as a program."""

import signal
import subprocess
import sys

import pytest

from blackbird.provider.__main__ import main, manners
from blackbird.provider.manner import Fault, Manner, ScriptError
from tests.clients.peer import Peer


def test_it_serves_until_it_is_asked_to_stop() -> None:
    command = [sys.executable, "-m", "blackbird.provider", "--pace", "1ms", "--turn", "2:status=529"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        url = program.stdout.readline().strip()
        with Peer.connect(int(url.rpartition(":")[2])) as client:
            statuses = [client.ask(b"GET /v1/models HTTP/1.1\r\nHost: l\r\n\r\n").head.status for _ in range(2)]
        program.send_signal(signal.SIGTERM)
        assert program.wait(20) == 0
    assert statuses == [200, 529]


def test_wishes_for_one_request_add_up() -> None:
    assert manners(Manner(gap=1.0), ["3:fault=cut", "3:after=5"]) == {3: Manner(gap=1.0, fault=Fault.CUT, after=5)}


@pytest.mark.parametrize("wish", ["fault=cut", "x:fault=cut", "3:fault"])
def test_a_wish_in_another_form_is_refused(wish: str) -> None:
    with pytest.raises(ScriptError, match="N:NAME=VALUE"):
        manners(Manner(), [wish])


def test_a_wrong_pace_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--pace", "fast"]) == 2
    assert capsys.readouterr().err == "blackbird.provider: script-gap cannot be 'fast'\n"
