"""Reports: figures over answers, kept counts that make them fast, and exports."""
