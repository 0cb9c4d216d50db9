"""The figures of the work on cases: opened, closed, in time, how long it took, won back."""
