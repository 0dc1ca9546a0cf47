"""What a run writes about maps, plans and people."""
