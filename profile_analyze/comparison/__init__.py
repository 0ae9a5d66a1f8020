"""Two sides: which operators match, statistics, verdicts and drift."""
