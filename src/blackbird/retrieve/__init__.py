"""Finding what is worth knowing: a question becomes cards, an id the whole of it, and its neighbours.

model       what is asked and answered
weights     what counts how much, and how much work a search may be: all numbers in one place
scoping     whose artifacts a search is narrowed to
plan        a question becomes words to search for
occurrences which artifacts have which of the words
candidates  artifacts that are worth a look, and how much the words say of each
sameness    what says the same
ranking     how much scope, age, type and state count
search      from a question to cards
cards       an artifact, short enough to be read beside many others
lookup      an artifact by its id
neighbours  what an artifact has to do with others
"""
