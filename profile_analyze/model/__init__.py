"""The model of a profile: its tables of facts, and the registry of columns."""
