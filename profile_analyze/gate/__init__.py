"""Conditions that fail a pipeline."""
