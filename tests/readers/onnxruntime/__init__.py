"""Tests of the reader of ONNX Runtime profiles."""
