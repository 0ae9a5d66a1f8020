"""Benchmarks of time and memory, beside other programs: `make bench`."""
