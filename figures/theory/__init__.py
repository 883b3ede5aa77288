"""The pictures of the theory: one per table of experiments/theory, its caption computed from it."""
