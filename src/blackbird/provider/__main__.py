"""`python -m blackbird.provider`: the scripted provider on a port, until it is interrupted."""

import argparse
import signal
import sys
from collections.abc import Sequence

from blackbird.provider.manner import Manner, ScriptError, ask
from blackbird.provider.server import Provider


def options(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line, read."""
    parser = argparse.ArgumentParser(prog="python -m blackbird.provider", description="A scripted model provider.")
    parser.add_argument("--port", type=int, default=0, help="where to listen on 127.0.0.1; 0 picks a free port")
    parser.add_argument("--pace", default="0", metavar="TIME", help="time between events, such as 20ms")
    parser.add_argument("--encoding", default="identity", help="gzip, deflate, zstd, br, or accepted")
    parser.add_argument("--folder", default="", help="the folder of the job, for clients that want absolute paths")
    parser.add_argument(
        "--turn",
        action="append",
        default=[],
        metavar="N:NAME=VALUE",
        help="how request N is answered, such as 2:status=529 or 3:fault=cut; may be repeated",
    )
    return parser.parse_args(arguments)


def manners(usual: Manner, wishes: Sequence[str]) -> dict[int, Manner]:
    """The manners of single requests, from words such as `2:status=529`."""
    turns: dict[int, Manner] = {}
    for wish in wishes:
        number, _, rest = wish.partition(":")
        name, equals, value = rest.partition("=")
        if not number.isdecimal() or not equals:
            raise ScriptError(f"{wish!r} is not of the form N:NAME=VALUE, such as 2:status=529")
        turns[int(number)] = ask(turns.get(int(number), usual), [(name, value)])
    return turns


def main(arguments: Sequence[str]) -> int:
    """Serve until SIGINT or SIGTERM."""
    chosen = options(arguments)
    try:
        usual = ask(Manner(), [("gap", chosen.pace), ("encoding", chosen.encoding)])
        turns = manners(usual, chosen.turn)
    except ScriptError as error:
        sys.stderr.write(f"blackbird.provider: {error}\n")
        return 2
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    with Provider(chosen.port, usual, turns, chosen.folder) as provider:
        sys.stdout.write(f"{provider.url}\n")
        sys.stdout.flush()
        signal.sigwait((signal.SIGINT, signal.SIGTERM))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
