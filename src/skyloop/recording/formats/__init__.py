"""Dataset formats other tools open, each written from a recording's journal, group by group."""
