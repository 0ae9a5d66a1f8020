"""Readers turn bytes into a `Profile`. Each format has its own reader; `loading` lists them."""
