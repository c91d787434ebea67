"""The commands about what is kept: what must not be, what lies beside a log, and other forms of it.

redact   secrets out of logs
blobs    the long results beside the logs: list, verify, extract, clear away
export   the same session in another form
"""
