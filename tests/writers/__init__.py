"""Tests of `profile_analyze.writers`."""
