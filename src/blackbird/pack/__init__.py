"""The context pack: what a task should know of those before it, in few words, each leading to its evidence.

model       a pack as a value
reading     the only module here that asks the memory: what a pack may draw upon, within bounds
relevance   how much something has to do with the task ahead
marking     the words of others, so that they can pose as nothing else
material    what a section chooses from, and what is left out beforehand
rulings     decisions and constraints that hold, each once
tasks       what earlier tasks did, and what failed in them
remains     the goal, facts, open threads, and pointers to what did not fit
working     files and commands worth knowing again
naming      those as lines of a pack
contract    what the agent is told about the pack
budget      how many tokens each section gets, and what fits into them
rendering   a pack as Markdown, and for programs
building    all of this in order
cache       packs that were made before
limits      what the settings say of packs
"""
