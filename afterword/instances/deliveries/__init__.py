"""That a message arrived: what a provider's receipt says of an instance."""
