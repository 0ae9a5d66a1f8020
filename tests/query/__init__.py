"""Tests of `profile_analyze.query`."""
