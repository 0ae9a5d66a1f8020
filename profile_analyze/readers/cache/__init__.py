"""Decoded profiles of large files, kept in a folder."""
