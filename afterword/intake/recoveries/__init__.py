"""Recovery: the customer of a case is asked again."""
