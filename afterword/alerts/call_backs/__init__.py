"""Cases of customers who asked to be called."""
