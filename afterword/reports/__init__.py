"""Reports: figures over answers, and the kept counts that make them fast."""
