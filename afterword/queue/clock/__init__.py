"""The clock of an organization's test items, which can be moved forward."""
