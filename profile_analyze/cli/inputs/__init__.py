"""From names of files to profiles."""
