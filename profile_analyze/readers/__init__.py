"""Readers: one file or package for each format, from bytes to a `Profile`. `loading` lists them."""
