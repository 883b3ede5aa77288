"""What takes how long, as ratios: an iteration, a roll-out, the workflow."""
