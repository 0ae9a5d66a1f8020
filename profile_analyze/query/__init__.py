"""One question, one answer: filter, group, aggregate, order, top."""
