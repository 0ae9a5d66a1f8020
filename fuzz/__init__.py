"""Random profiles and questions through the whole command, and what must hold of each answer."""
