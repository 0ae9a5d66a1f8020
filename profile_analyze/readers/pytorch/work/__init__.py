"""What the operators of PyTorch compute and move."""
