"""The loop with software under test (SUT): its sessions, the synchronisation of its time, its target."""
