"""Benchmarks: `make bench` compares the time and memory of this tool with other programs."""
