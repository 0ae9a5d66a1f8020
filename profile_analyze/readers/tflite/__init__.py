"""The reader of the profiles that TensorFlow Lite's benchmark_model prints: text and CSV."""
