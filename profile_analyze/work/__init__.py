"""Derives what operators compute and move from their shapes, dtypes and attributes."""
