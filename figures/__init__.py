"""Pictures from tables; one module a kind of picture. Nothing here runs an optimiser."""

import os

os.environ["MPLBACKEND"] = "agg"  # of a notebook's matplotlib cannot be imported
