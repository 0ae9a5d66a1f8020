"""Tests of `profile_analyze.report`."""
