"""Plans and credits: what an organization may send, as its operator has agreed with it."""
