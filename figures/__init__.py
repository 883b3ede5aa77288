"""Pictures from tables; one module a kind of picture. Nothing here runs an optimiser."""
