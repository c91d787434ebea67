"""Consoles of rich, which leave quietly when their reader does."""

from typing import Any

from rich.console import Console

from blackbox.terminal import output


class QuietConsole(Console):
    """Writes lines whole, so that a pipe sees what a terminal sees, and nothing after its reader has gone."""

    def __init__(self, stream: Any, *, stderr: bool) -> None:
        super().__init__(file=stream, stderr=stderr, soft_wrap=True, highlight=False, markup=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """The reader has gone."""
        self.quiet = True
        output.reader_gone()
