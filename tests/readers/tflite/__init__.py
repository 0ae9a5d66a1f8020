"""Tests of the reader of TensorFlow Lite's benchmark_model."""
