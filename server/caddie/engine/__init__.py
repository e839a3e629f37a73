"""Where everything is wired together. Doors use the engine; nothing below knows it."""
