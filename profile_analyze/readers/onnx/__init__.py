"""Reads ONNX models: what a network costs before it runs."""
