"""The entry point: `run` goes straight to its agent if its words are plain, all else by way of the commands."""

import importlib
import sys


def main() -> None:
    """Run the command; the entry point of the console script."""
    if sys.argv[1:2] == ["run"]:
        from blackbird.launch import orders, quick  # noqa: PLC0415 - no other command needs them

        words = quick.read(sys.argv[2:])
        if words is not None:
            sys.exit(orders.perform(words))
    # What reads arguments takes longer to load than an agent should have to wait.
    importlib.import_module("blackbird.cli.commands").main()
