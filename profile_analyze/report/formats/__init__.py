"""The output formats, mostly a file each; `output_formats` lists them."""
