"""The flight logs of BlackBox as a source: what another recorder, or an older Blackbird, wrote down.

bbox       `.bbox` and `.rlog`, line by line
companion  the JSON lines beside them, ours and those of other recorders, nested and flat
steps      whose each step is, and results that wait for its end
telling    from an event of a flight log to what it says
tokens     the usage that a log repeats on each line of a message
"""
