"""Removal of personal data by its age, some rows at a time, with a row of the ledger for each run."""
