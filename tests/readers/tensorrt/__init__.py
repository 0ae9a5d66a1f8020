"""Tests of the readers of what trtexec writes."""
