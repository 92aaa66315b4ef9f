"""The commands of ``rlgpt``. Each command is a module with a function ``main(arguments) -> int``."""
