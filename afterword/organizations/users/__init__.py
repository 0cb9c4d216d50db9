"""Users of an organization: their profiles, roles and applications."""
