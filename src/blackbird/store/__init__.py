"""The memory: artifacts in one database that can be deleted at any time, with one writer and many readers.

files     which file is the memory, who may write it, and how a new one takes the place of the old
memory    what is asked of it: artifacts, findings, how far it is
writing   what is put into it, a session at a time
values    what it holds besides artifacts
differing two memories, compared artifact by artifact
"""
