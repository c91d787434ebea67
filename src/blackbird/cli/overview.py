"""`blackbird` without a command: what the recorder is doing, and what to type next."""

from blackbird import home as homes
from blackbird.cli import status
from blackbird.recorder import control
from blackbox.terminal import output

_DOWN = (
    ("blackbird run -- claude", "run an agent, recorded; or codex, gemini, opencode, a script"),
    ("blackbird up", "start the recorder alone"),
    ("blackbird demo", "see it at work, offline"),
    ("blackbird sessions", "what was recorded, by session"),
)
_UP = (
    ("blackbird run -- claude", "run an agent, recorded; or codex, gemini, opencode, a script"),
    ('eval "$(blackbird env)"', "send the agents of this shell through the recorder"),
    ("blackbird tail", "what agents say and do, as it happens"),
    ("blackbird sessions", "what was recorded, by session"),
    ("blackbird requests", "the same, request by request"),
    ("blackbird down", "stop recording"),
)
_ALWAYS = (
    ("blackbird doctor", "what is wrong, if something is"),
    ("blackbird --help", "all commands"),
)


def show() -> None:
    """Print it."""
    console = output.stdout()
    home = homes.find()
    now = control.status(home)
    status.show(console, home, now)
    console.print()
    for command, purpose in (*(_DOWN if now is None else _UP), *_ALWAYS):
        console.print(f"  {command:<28}{purpose}")
