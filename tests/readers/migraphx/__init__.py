"""Tests of the reader of MIGraphX reports."""
