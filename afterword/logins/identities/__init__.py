"""Log-in through the identity provider of an organization, by OpenID Connect."""
