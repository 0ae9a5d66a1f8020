"""Tests of `profile_analyze.work`."""
