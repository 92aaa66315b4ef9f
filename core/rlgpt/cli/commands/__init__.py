"""One module for each command; each has `main(arguments) -> int`."""
