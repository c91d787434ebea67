"""The private CA that forward mode shows its certificates with: made by the recorder program, looked at from here.

ca           has it made, reads it, takes it away
certificate  what a certificate says, and whether a key is its own
problems     what is wrong with it, as values
roots        the certificates a program would trust anyway
bundle       those and ours in one file, for a child process alone
"""
