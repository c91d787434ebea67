"""The commands that read logs and answer questions about them; each module is one command.

tail     the last entries, and the live ones as they are written
grep     entries by text, type, tool, step, time and outcome
audit    files modified, hosts called, sensitive paths, decisions
cost     tokens and cost by step, tool, model and agent, against the budget
apm      actions per minute, from JSONL logs
sessions the sessions that arguments name, each once
contents what is no log, and is refused
entries  how entries of a log are shown: coloured on a terminal, their very bytes in a pipe
"""
