"""Systems that tell of orders, deliveries and tickets: who signed a call, and what it says."""
