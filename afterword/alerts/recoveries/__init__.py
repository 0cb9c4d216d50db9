"""Cases whose customers are asked again, and what they answered."""
