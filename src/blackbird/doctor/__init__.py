"""What silently goes wrong, found: facts are gathered first, then judged by checks that see nothing else.

findings   what a check says: how bad it is, on what evidence, and what to do
native     what agents' own logs say of their calls, line by line
facts      looks: at the recorder, the trace, the disk, the user's environment, and the files of agents; never writes
checks     facts to findings, without looking at anything
diagnosis  all of it, in order
"""
