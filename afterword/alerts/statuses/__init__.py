"""Alert statuses: the product's own four and those of an organization."""
