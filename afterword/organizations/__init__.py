"""Who owns what: organizations, applications, users, tokens and scopes."""
