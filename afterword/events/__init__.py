"""The event log: rows written in the transaction of their cause."""
