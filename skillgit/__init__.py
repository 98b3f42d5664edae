"""skillgit trains agent skills and keeps the whole training in git."""

__version__ = "0.1.0"
