"""A recorder that writes a session twice: an .rlog for people, cut short, and a .jsonl with everything.

    with DualRecorder("Fix the login bug", repo_sha="abc1234") as log:
        log.user("Fix the login bug")
        with log.subagent("explore", "find the login code") as helper:
            helper.tool("grep", "login", result=results.count(12, "matches"))
            helper.close(summary="it is in src/auth.rs")

recorder   `DualRecorder`: everything a `Writer` logs, and sub-agents with files of their own
names      the names of the files, made from the time and the task
files      the pair of files and the sub-agents' ones: the only module here that opens any
"""

from blackbox.dual.recorder import DualRecorder, DualSubagent

__all__ = ["DualRecorder", "DualSubagent"]
