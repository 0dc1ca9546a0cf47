"""How good estimates, maps and plans are."""
