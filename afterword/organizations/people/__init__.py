"""People of an organization: whom it invited, in which role, for which applications."""
