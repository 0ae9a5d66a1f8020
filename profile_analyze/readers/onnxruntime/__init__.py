"""The reader of ONNX Runtime profiles: JSON that a session writes if profiling is switched on."""
