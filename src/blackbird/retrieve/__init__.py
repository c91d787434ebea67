"""Finding what is worth knowing: a question becomes cards, an id the whole of it, and its neighbours."""
