"""Sending deliveries: dealt out from the log, claimed, settled; each step one short transaction, none while calling."""
