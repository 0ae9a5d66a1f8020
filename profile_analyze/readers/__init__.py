"""One file a runtime: bytes in, a `Profile` out. `loading` knows them all."""
