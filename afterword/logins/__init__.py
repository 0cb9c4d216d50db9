"""People who log in to the console: passwords, second factors, sessions and one-time links."""
