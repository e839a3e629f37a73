"""The doors for scripts and people in a shell. Everything here may print; nothing else in the house does."""
