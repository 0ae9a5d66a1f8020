"""A file an output format: an answer in, bytes out."""
