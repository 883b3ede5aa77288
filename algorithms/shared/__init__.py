"""What the optimisers share: interface, loop, distributions, shaping, linear algebra."""
