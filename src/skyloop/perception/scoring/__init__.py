"""How good boxes and tracks are, against the truth."""
