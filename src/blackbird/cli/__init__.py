"""The command `blackbird`: reads arguments, asks the recorder or the trace, shows the answer. No logic of its own.

app           the entry point: commands, exit codes, how errors are told
outline       help on all commands without loading them
running       up · down
status        status
environment   env
settings      config
keeping       trace clean · pin · unpin · seal
tracing       trace verify · status · export
reading       requests · show
arguments     what the commands' arguments have in common
"""
