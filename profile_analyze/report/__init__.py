"""Output formats, which turn a report into bytes. `output_formats` lists them."""
