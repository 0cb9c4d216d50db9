"""The decisions that a pipeline's rules, or changed ones, would have made about its items of the last days."""
