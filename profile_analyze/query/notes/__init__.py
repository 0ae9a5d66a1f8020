"""What a person should know about an answer."""
