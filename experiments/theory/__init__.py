"""The theorems by experiment, a module per question."""
