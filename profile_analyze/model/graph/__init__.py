"""The graph of a model, and profiles that are joined with their model."""
