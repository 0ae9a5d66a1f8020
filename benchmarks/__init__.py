"""What the tool costs, next to its peers and to what the machine allows: `make bench`."""
