"""What follows from a profile and something else: peak rates, a baseline, statistics."""
