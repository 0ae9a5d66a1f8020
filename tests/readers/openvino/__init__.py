"""Tests of the readers of OpenVINO: execution graphs and counters."""
