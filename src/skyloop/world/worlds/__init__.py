"""The worlds skyloop ships, one file each."""
