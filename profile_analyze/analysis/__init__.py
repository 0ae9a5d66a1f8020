"""What can be worked out from a profile together with something else: the rates of a device."""
