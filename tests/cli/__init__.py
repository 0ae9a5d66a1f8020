"""Tests of `profile_analyze.cli`."""
