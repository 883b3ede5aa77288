"""From traces to tables: runs, curves, estimates, summaries."""
