"""One file an output form: an answer in, text out. `forms` knows them all."""
