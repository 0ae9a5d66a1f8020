"""Turns answers into bytes."""
