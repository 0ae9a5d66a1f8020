"""Joins the profiles of several files into one: runs, ranks and their labels."""
