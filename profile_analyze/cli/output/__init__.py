"""Where an answer goes: standard output, files, a pager."""
