"""The version of this package, for the command line, the library and the build."""

VERSION = "0.1.0"
