"""The loop with a software under test: its sessions, its time kept together with the simulated one, its target."""
