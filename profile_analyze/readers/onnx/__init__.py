"""Reads ONNX models, and computes what a network costs before it runs."""
