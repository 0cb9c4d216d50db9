"""The responses that a rule would have matched."""
