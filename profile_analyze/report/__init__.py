"""Output formats: one module per format turns a report into bytes. `output_formats` lists them."""
