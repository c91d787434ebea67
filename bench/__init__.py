"""Measurements, run by hand and by `make bench`; never part of the tests."""
