"""Tests of the reader of MegEngine's timelines."""
