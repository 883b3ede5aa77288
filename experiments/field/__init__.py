"""INGO among the field: what the two benchmarks of ``make field`` say, in their own measures."""
