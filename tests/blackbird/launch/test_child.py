"""The child gets streams, signals, terminal and environment as without us, and its end is ours."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.blackbird.launch.cockpit import PATIENCE, Cockpit

SH = ("sh", "-c")
#: A shell with job control, as far as a job that stops is concerned.
SHELL = """
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
def start():
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpgid(0))
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
job = os.fork() or start()
while True:
    _, status = os.waitpid(job, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgid(0))
    if not os.WIFSTOPPED(status):
        break
    print("JOB STOPPED", flush=True)
    os.tcsetpgrp(0, job)
    os.killpg(job, signal.SIGCONT)
print("JOB ENDED", os.waitstatus_to_exitcode(status), flush=True)
"""


def begin(cockpit: Cockpit, *words: str) -> subprocess.Popen[bytes]:
    """The command in a process group of its own, once its child has said `ready`."""
    running = subprocess.Popen(
        cockpit.argv("--quiet", "--", *words),
        stdout=subprocess.PIPE,
        env=cockpit.environ,
        cwd=cockpit.work,
        start_new_session=True,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == b"ready\n"
    return running


def end(running: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    out, _ = running.communicate(timeout=PATIENCE)
    return running.returncode, out


@pytest.mark.requirement("MEMCLI-05")
@pytest.mark.parametrize("code", [0, 7, 255])
def test_its_exit_code_is_ours(shared: Cockpit, code: int) -> None:
    assert shared.run("--", *SH, f"exit {code}").returncode == code


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_ends_it_ends_us(shared: Cockpit, number: signal.Signals) -> None:
    assert shared.run("--", *SH, f"kill -{number.value} $$").returncode == -number


@pytest.mark.requirement("MEMCLI-05")
def test_a_program_that_is_not_there(shared: Cockpit) -> None:
    done = shared.run("--", "no-such-program", "x")
    assert (done.returncode, done.stdout) == (127, b"")
    assert done.stderr.decode().splitlines()[0] == "✗ no-such-program: not found"


def test_a_folder_is_no_program(shared: Cockpit) -> None:
    done = shared.run("--", str(shared.work))
    assert done.returncode == 126
    assert done.stderr.decode().splitlines()[0] == f"✗ {shared.work} is a folder"
    (shared.work / "no-such-agent").mkdir()
    assert shared.run("--", "no-such-agent").returncode == 127


@pytest.mark.requirement("MEMCLI-05")
def test_a_program_that_is_not_executable(shared: Cockpit) -> None:
    path = shared.work / "plain.txt"
    path.write_text("words")
    done = shared.run("--", str(path))
    assert done.returncode == 126
    assert done.stderr.decode().splitlines()[0] == f"✗ {path} cannot be executed"


def test_a_program_without_its_interpreter(shared: Cockpit) -> None:
    path = Path(shared.program("torn", "#!/no/such/interpreter\n"))
    done = shared.run("--", str(path))
    assert done.returncode == 126
    assert f"✗ {path} cannot be executed: No such file or directory" in done.stderr.decode()


def test_a_script_without_a_first_line_runs_as_in_a_shell(shared: Cockpit) -> None:
    path = shared.program("plain", "echo $0 $1\n")
    assert shared.run("--", "plain", "one").stdout.decode() == f"{path} one\n"


def test_streams_pass_untouched(shared: Cockpit) -> None:
    data = bytes(range(256)) * 1000
    done = shared.run("--quiet", "--", *SH, "cat; echo said >&2", data=data)
    assert (done.stdout, done.stderr) == (data, b"said\n")


def test_arguments_pass_untouched(shared: Cockpit) -> None:
    words = ["--session", "x", "--", "-c", "--json", "", "a b", "ü\n"]
    echo = "import sys; print(sys.argv[1:])"
    done = shared.run("--quiet", "--", sys.executable, "-c", echo, *words)
    assert done.stdout.decode() == f"{words}\n"


def test_without_two_dashes_options_end_at_the_command(shared: Cockpit) -> None:
    assert shared.run("--quiet", "echo", "--session", "--quiet").stdout == b"--session --quiet\n"


def test_open_files_pass(shared: Cockpit) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as pipe:
        words = shared.argv("--quiet", "--", sys.executable, "-c", f"import os; os.write({writing}, b'through')")
        subprocess.run(words, env=shared.environ, pass_fds=[writing], timeout=PATIENCE, check=True)
        os.close(writing)
        assert pipe.read() == b"through"


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel by its own way")
@pytest.mark.parametrize("ignored", [[], [signal.SIGINT, signal.SIGHUP, signal.SIGTERM]])
def test_what_is_ignored_and_blocked_is_as_without_us(shared: Cockpit, ignored: list[signal.Signals]) -> None:
    names = "".join(f"trap '' {number.value}; " for number in ignored)
    ask = "exec grep Sig[IB] /proc/self/status"
    direct = shared.direct(*SH, f"{names}{ask}")
    words = " ".join(shared.argv("--quiet", "--"))
    through = shared.direct(*SH, f"{names}{words} sh -c '{ask}'")
    assert through.stdout == direct.stdout
    assert through.stdout.count(b"\n") == 2


def environment(printed: bytes) -> dict[str, str]:
    pairs = (entry.split("=", 1) for entry in printed.decode().split("\0") if entry)
    return {name: value for name, value in pairs if name != "_"}


def test_the_environment_differs_in_what_is_planned_alone(shared: Cockpit) -> None:
    before = environment(shared.direct("env", "-0").stdout)
    done = shared.run("--session", "harbour", "--task", "crane", "--", "env", "-0")
    after = environment(done.stdout)
    added = {name: value for name, value in after.items() if before.get(name) != value}
    assert {name: value for name, value in before.items() if name not in after} == {}
    run = added["BLACKBIRD_RUN"]
    base = re.escape(f"/bb/harbour/crane/{run}/")
    assert {name: re.sub(rf"http://127\.0\.0\.1:\d+{base}", "", value) for name, value in added.items()} == {
        "ANTHROPIC_BASE_URL": "anthropic",
        "OPENAI_BASE_URL": "openai/v1",
        "GOOGLE_GEMINI_BASE_URL": "gemini",
        "OLLAMA_HOST": "ollama",
        "LM_STUDIO_API_BASE": "lmstudio/v1",
        "OPENAI_API_BASE": "openai/v1",
        "OLLAMA_API_BASE": "ollama",
        "GEMINI_API_BASE": "gemini/v1beta",
        "BLACKBIRD_SESSION": "harbour",
        "BLACKBIRD_TASK": "crane",
        "BLACKBIRD_RUN": run,
    }


def test_no_file_of_the_user_is_touched(shared: Cockpit) -> None:
    (shared.user / ".codex").mkdir()
    (shared.user / ".codex" / "config.toml").write_text('openai_base_url = "https://gateway.example/v1"\n')

    def look() -> dict[str, tuple[int, bytes]]:
        found = [path for folder in (shared.user, shared.work) for path in folder.rglob("*")]
        return {str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"") for path in found}

    before = look()
    assert shared.run("--", "true").returncode == 0
    assert look() == before


def test_a_signal_to_us_alone_reaches_it(shared: Cockpit) -> None:
    running = begin(shared, *SH, "trap 'echo told; exit 3' TERM; echo ready; while :; do sleep 0.05; done")
    running.send_signal(signal.SIGTERM)
    assert end(running) == (3, b"told\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
def test_keys_of_the_terminal_are_its_affair(shared: Cockpit, number: signal.Signals) -> None:
    running = begin(shared, *SH, f"trap 'echo told; exit 4' {number.value}; echo ready; while :; do sleep 0.05; done")
    os.killpg(running.pid, number)
    assert end(running) == (4, b"told\n")


def test_a_key_pressed_twice_does_not_cost_the_last_lines(shared: Cockpit) -> None:
    running = subprocess.Popen(
        shared.argv("--", *SH, "trap 'exit 4' INT; echo ready; while :; do sleep 0.05; done"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=shared.environ,
        start_new_session=True,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == b"ready\n"
    patience = time.monotonic() + PATIENCE
    while running.poll() is None:
        assert time.monotonic() < patience
        os.killpg(running.pid, signal.SIGINT)
        time.sleep(0.01)
    _, said = running.communicate(timeout=PATIENCE)
    assert running.returncode == 4
    assert said.decode().splitlines()[1].startswith("! No call of this run was seen")


def test_it_may_ignore_an_interrupt(shared: Cockpit) -> None:
    running = begin(shared, *SH, "trap '' INT; echo ready; sleep 0.3; echo done")
    os.killpg(running.pid, signal.SIGINT)
    assert end(running) == (0, b"done\n")


class Terminal:
    """A shell with job control in a terminal of its own, with our command as its job."""

    def __init__(self, cockpit: Cockpit, *words: str) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:  # pragma: no cover - the other process
            os.chdir(cockpit.work)
            shell = [sys.executable, "-c", SHELL, *words]
            os.execve(shell[0], shell, cockpit.environ)  # noqa: S606 - a shell of our own
        self.said = b""

    def wait_for(self, text: bytes) -> None:
        limit = time.monotonic() + PATIENCE
        while text not in self.said:
            assert time.monotonic() < limit, self.said
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.said += os.read(self.fd, 4096)
                except OSError as error:
                    raise AssertionError(self.said) from error

    def type(self, text: bytes) -> None:
        os.write(self.fd, text)

    def close(self) -> None:
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def test_the_stop_key_stops_the_job_and_it_goes_on(shared: Cockpit) -> None:
    terminal = Terminal(shared, *shared.argv("--quiet", "--", *SH, "echo begun; read x; echo got $x; exit 6"))
    terminal.wait_for(b"begun")
    terminal.type(b"\x1a")
    terminal.wait_for(b"JOB STOPPED")
    terminal.type(b"word\n")
    terminal.wait_for(b"got word")
    terminal.wait_for(b"JOB ENDED 6")
    terminal.close()


def test_a_child_that_stops_itself_stops_the_job(shared: Cockpit) -> None:
    terminal = Terminal(shared, *shared.argv("--quiet", "--", *SH, "kill -STOP $$; echo went on; exit 5"))
    terminal.wait_for(b"JOB STOPPED")
    terminal.wait_for(b"went on")
    terminal.wait_for(b"JOB ENDED 5")
    assert terminal.said.count(b"JOB STOPPED") == 1
    terminal.close()


def test_the_interrupt_key(shared: Cockpit) -> None:
    terminal = Terminal(shared, *shared.argv("--quiet", "--", *SH, "echo begun; read x; echo not reached"))
    terminal.wait_for(b"begun")
    terminal.type(b"\x03")
    terminal.wait_for(b"JOB ENDED -2")
    assert b"not reached" not in terminal.said
    terminal.close()


def test_the_terminal_is_the_same(shared: Cockpit) -> None:
    ask = "import os, sys; print('IS', [os.isatty(n) for n in range(3)], os.ttyname(0), os.get_terminal_size())"
    asked = (sys.executable, "-c", ask)
    said = []
    for words in (asked, shared.argv("--quiet", "--", *asked)):
        terminal = Terminal(shared, *words)
        terminal.wait_for(b"JOB ENDED 0")
        terminal.close()
        said.append(re.sub(rb"/dev/pts/\d+", b"TTY", terminal.said.partition(b"JOB ENDED")[0]))
    assert said[0] == said[1]
    assert b"IS [True, True, True] TTY" in said[0]
