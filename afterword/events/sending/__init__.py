"""Sending deliveries: fan-out from the log, claim, settle; each step one short transaction, none during the call."""
