"""What people ask of logs: find this, what did it do, what did it cost, how busy was it.

search     a query on its way through a log: text, type, tool, step, time, outcome
audit      the four questions of an audit, answered with line numbers; uses the four below
hosts      which hosts a call reaches, from its URLs and commands
sensitive  paths that hold secrets, redactions met, and secrets still in the clear
decisions  what was decided, by whom and why
places     a line's place in a session of several parts and sub-agents
tables     what reaches the network and which paths hold secrets, as data
spending   tokens and cost by step, tool, model and agent, and against the budget
actions    what counts as an action in companions and agents' own logs, and actions per minute
companions the only module here that opens files: which JSONL logs there are, their actions, sub-agents from them
"""
