"""Reads ONNX models, and computes from a model alone what one run of its network costs."""
