"""Protects the reader from hostile ONNX models."""
