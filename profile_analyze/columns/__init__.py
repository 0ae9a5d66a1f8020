"""The register of columns: names, units, meanings and formulas."""
