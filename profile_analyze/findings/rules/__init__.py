"""The rules by family. Each module has a tuple `RULES`; `findings.register` lists the modules."""
