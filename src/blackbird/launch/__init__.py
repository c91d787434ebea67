"""`blackbird run`: an agent started so that its calls are recorded, and otherwise as if it had been started directly.

command    the command: options in, exit code out
flight     one run from the recorder's start to the last line
child      the process: found, started, waited for; signals, job control, the exit code
context    where it runs: repository, client, versions
briefing   the context pack before it, the outcome after it, both asked of the memory
equipment  what the child is given: hooks, pack, memory tools, and the files for them
settings   base URLs that the user's own files hold
watch      what passed, counted from the trace while it runs
telling    the lines for people
"""
