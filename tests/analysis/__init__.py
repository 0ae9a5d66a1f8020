"""Tests of `profile_analyze.analysis`."""
