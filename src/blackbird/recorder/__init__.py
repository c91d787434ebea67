"""The recorder program as seen from here: where it is, how it is started and stopped, how it is spoken to.

program    finds the program that is installed beside this package
control    asks the running recorder over its control socket
events     tells it what a tool did
feed       asks many things one after the other, whether or not it runs
process    starts and stops it, and does maintenance without it
"""
