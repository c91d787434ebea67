"""What places of a timeline claim: one module a kind of signal, each from a scene to claims, none knowing another."""
