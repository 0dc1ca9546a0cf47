"""Dataset formats for other tools. Each is written from a recording's journal, group by group."""
