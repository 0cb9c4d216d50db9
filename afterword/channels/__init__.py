"""How a message leaves the building."""
