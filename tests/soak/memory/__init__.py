"""Writers and readers of one memory, killed at random for minutes; at the end nothing is lost and nothing is damaged.

python -m tests.soak.memory --minutes 3

sessions  what is written: sessions in versions, each whole or not at all
ledger    what was promised, as files beside the memory
roles     what one writer and one reader do, each a process of its own
hammer    starts them, kills them, and looks at what is left
"""
