"""Runs the whole command on random inputs, and checks the invariants of each answer."""
