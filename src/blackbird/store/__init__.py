"""The memory: artifacts in one database that can be deleted at any time, with one writer and many readers.

files     which file is the memory, who may write it, and how a new one takes the place of the old
memory    what is asked of it: artifacts, findings, how far it is
writing   what is put into it, a session at a time
texts     what of an artifact is indexed, and in which field
index     the index of words, beside the artifacts
values    what it holds besides artifacts
differing two memories, compared artifact by artifact
"""
