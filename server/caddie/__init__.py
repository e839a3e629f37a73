"""Caddie: every tool its user owns, and only the needed ones in the prompt."""

__version__ = "0.1.0"
