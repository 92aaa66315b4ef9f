"""The commands of ``rlgpt``. Each is a module with a function `main(arguments) -> int`."""
