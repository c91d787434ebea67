"""One timeline of every session, woven from exchanges and imported logs."""
