"""Results that need more than a profile: peak rates, a baseline, or several runs."""
