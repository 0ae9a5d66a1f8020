"""The table of options, and what a call reads, asks, shows and writes."""
