"""Whether a trace is whole: all that is wrong with it, as values.

findings  what can be found, and what to do about it
intervals which sequences are there
verifier  one segment after the other, then the whole
"""
