"""Mails of a case: replies to the customer, sent once, and the customer's answers."""
