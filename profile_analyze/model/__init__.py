"""What a profile is: its columns of facts, and the register of everything that can be asked."""
