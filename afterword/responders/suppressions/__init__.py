"""The do-not-contact list for clients: list, add (singly or from a file), lift."""
