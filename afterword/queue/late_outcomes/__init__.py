"""Late truth: what was learned of an attempt after its outcome had been written down as unknown."""
