"""Links that work once: set-up, invitations, resets, changes of address."""
