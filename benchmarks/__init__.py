"""Speed against the ceiling measured in the same run: absolute times mean nothing on a shared machine, ratios do."""
