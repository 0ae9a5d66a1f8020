"""Tests of the reader of PyTorch traces."""
