"""One act on many waiting items: cancel them, or send them at another time."""
