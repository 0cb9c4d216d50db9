"""How an item came to be where it is: the decision about it, its attempts, the item after it."""
