"""What the nodes of ONNX models compute and move."""
