"""When to use INGO: beside CMA-ES, L-BFGS-B and random search at equal budgets."""
