"""Tests of `profile_analyze.readers.onnx`."""
