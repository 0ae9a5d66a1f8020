"""The reader of MIGraphX reports: the text that `migraphx-driver perf` prints."""
