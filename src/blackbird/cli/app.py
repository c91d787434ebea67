"""The entry point: what is asked often and in plain words goes straight on, all else by the commands."""

import importlib
import sys


def main() -> None:
    """Run the command; the entry point of the console script."""
    _check_words()
    if sys.argv[1:2] == ["run"]:
        from blackbird.launch import orders, quick  # noqa: PLC0415 - no other command needs them

        words = quick.read(sys.argv[2:])
        if words is not None:
            sys.exit(orders.perform(words))
    if sys.argv[1:3] == ["mem", "search"]:
        from blackbird.cli.memory import quick as asked  # noqa: PLC0415 - no other command needs it

        code = asked.answer(sys.argv[3:])
        if code is not None:
            sys.exit(code)
    if sys.argv[1:] == ["mcp"]:
        from blackbird.doors import stdio  # noqa: PLC0415 - no other command needs it

        sys.exit(stdio.main())
    if sys.argv[1:] == ["--version"]:
        from blackbird.doors.version import version  # noqa: PLC0415 - no other command needs it

        sys.stdout.write(f"blackbird {version()}\n")
        sys.exit(0)
    # What reads arguments takes longer to load than an agent should have to wait.
    importlib.import_module("blackbird.cli.commands").main()


def _check_words() -> None:
    """Refuse words that are no text. Those of an agent pass as they are, and are none of ours."""
    words = sys.argv[1:2] if sys.argv[1:2] == ["run"] else sys.argv[1:]
    for number, word in enumerate(words, 1):
        if not word.isprintable() and any("\ud800" <= sign <= "\udfff" for sign in word):
            sys.stderr.write(f"✗ Argument {number} is no UTF-8\n  type it as UTF-8 text\n")
            sys.exit(2)
