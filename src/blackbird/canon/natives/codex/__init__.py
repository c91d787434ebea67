"""The log of Codex.

reader  from a line to what it says
facts   who started a thread, what it was told, and whose words a message holds
ends    how commands, patches and tools ended, by the events beside their results
"""
