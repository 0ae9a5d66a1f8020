"""Benchmarks: `make bench` compares time and memory with those of other programs."""
