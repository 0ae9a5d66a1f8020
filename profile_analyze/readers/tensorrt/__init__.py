"""The readers of what trtexec writes about a TensorRT engine: layer times, and a description."""
