"""`blackbird completion`: commands and options completed by the shell, which asks the command itself."""

import enum
from typing import Annotated

import typer
from typer.completion import completion_init  # type: ignore[attr-defined]  # it is not in their stubs' exports

from blackbird.service.inventory import COMPLETION_MARK
from blackbox.terminal import output

_BASH = """\
{mark}
_blackbird_completion() {{
    local IFS=$'\\n'
    COMPREPLY=($(COMP_WORDS="${{COMP_WORDS[*]}}" COMP_CWORD=$COMP_CWORD _BLACKBIRD_COMPLETE=complete_bash "$1"))
}}
complete -o default -F _blackbird_completion blackbird
"""
#: zsh looks for `#compdef` in the very first line of a file `_blackbird`, which becomes the function of that name and
#: replaces it by the one inside when it is first called; sourced, the last command counts.
_ZSH = """\
#compdef blackbird
{mark}
_blackbird() {{
    eval "$(_TYPER_COMPLETE_ARGS="${{words[1,$CURRENT]}}" _BLACKBIRD_COMPLETE=complete_zsh blackbird)"
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _blackbird "$@"
else
    compdef _blackbird blackbird
fi
"""
_FISH = """\
{mark}
function __blackbird_complete
    _TYPER_COMPLETE_ARGS=(commandline -cp) _TYPER_COMPLETE_FISH_ACTION=$argv[1] \\
        _BLACKBIRD_COMPLETE=complete_fish blackbird
end
complete --command blackbird --no-files --arguments "(__blackbird_complete get-args)" \\
    --condition "__blackbird_complete is-args"
"""


class Shell(enum.StrEnum):
    """The shells that a script is there for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


_SCRIPTS = {Shell.BASH: _BASH, Shell.ZSH: _ZSH, Shell.FISH: _FISH}


def prepare() -> None:
    """Let the command answer a shell that asks; done by typer itself only where its own options are offered."""
    completion_init()


def completion(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print the script that completes commands and options in a shell. Nothing is installed.

    Examples:

      source <(blackbird completion bash)

      blackbird completion zsh > ~/.zfunc/_blackbird

      blackbird completion fish > ~/.config/fish/completions/blackbird.fish
    """
    output.write_text(_SCRIPTS[shell].format(mark=COMPLETION_MARK))
