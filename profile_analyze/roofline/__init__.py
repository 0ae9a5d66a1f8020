"""Peak rates of devices, and how far operators are from them."""
