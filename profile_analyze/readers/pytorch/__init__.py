"""Reads traces of `torch.profiler` (Kineto)."""
