"""Answers one question about a profile: filter, group, aggregate, order, limit."""
