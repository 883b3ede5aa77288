"""One run: its spec, its random streams, its record, its file, its job."""
