"""Tests of `profile_analyze.model`."""
