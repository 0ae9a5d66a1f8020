"""What a user probably meant by a wrong name, option, condition or file."""
