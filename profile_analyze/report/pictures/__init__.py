"""Pictures of a profile."""
