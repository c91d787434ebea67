"""The configuration: what can be set, where it is set, which value wins, and what the recorder gets to read.

settings   the table of all settings, from `settings.toml`
units      sizes and times as people write them
values     what a setting may be, by its type
layers     texts of files, variables and options to assignments; unknown names and untrusted ones are errors here
resolve    which assignment wins, and what holds between settings
modes      what makes memory, and what is said where more was asked for
load       reads the user's file, the project's and the environment
render     the resolved settings as the recorder reads them
"""
