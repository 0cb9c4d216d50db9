"""Every way into the queue beyond one POST: batches, CSV imports, references, sequences, dry runs, test messages."""
