"""Rules: everything that the tool has to say, as data, and the renderer that makes sentences."""
