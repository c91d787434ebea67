"""Blackbird: records what agents really sent and received, and derives a memory from it.

The pipeline is not here yet. What is:

- `cli`: the `blackbird` command.
- `recorder`: finds the recorder program that is installed beside this package.
"""
