"""The texts of cells, and how columns fit the width."""
