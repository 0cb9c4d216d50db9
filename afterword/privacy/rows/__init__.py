"""What is known of a person in the tables of all slices, and taking it out of them."""
