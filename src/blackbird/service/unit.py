"""The text of a systemd user unit that runs the recorder."""

from collections.abc import Mapping, Sequence

NAME = "blackbird.service"
#: What a unit of ours begins with; one without it was written by somebody else.
MARK = "# Written by blackbird up --systemd; blackbird uninstall takes it away."
#: A recorder that stops gets this much longer than its requests may take to end.
_GRACE_SECONDS = 15

_UNIT = """\
{mark}

[Unit]
Description=Blackbird, the flight recorder of agents
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart={command}
{environment}KillMode=mixed
TimeoutStopSec={stop_seconds}
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
SystemCallArchitectures=native

[Install]
WantedBy=default.target
"""


def render(command: Sequence[str], environment: Mapping[str, str], drain_seconds: int) -> str:
    """The unit that runs this command with these variables."""
    return _UNIT.format(
        mark=MARK,
        command=" ".join(quote(word, command=True) for word in command),
        environment="".join(f"Environment={quote(f'{name}={value}')}\n" for name, value in environment.items()),
        stop_seconds=drain_seconds + _GRACE_SECONDS,
    )


def is_ours(text: str) -> bool:
    """Whether a unit was written here."""
    return text.startswith(MARK)


def quote(word: str, *, command: bool = False) -> str:
    """A word as systemd reads it back: specifiers, quotes and, in a command, variables mean nothing in it."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    escaped = escaped.replace("\n", "\\n").replace("\t", "\\t")
    if command:
        escaped = escaped.replace("$", "$$")
    plain = bool(word) and all(each.isalnum() or each in "/._-=:,+@" for each in word)
    return escaped if plain else f'"{escaped}"'
