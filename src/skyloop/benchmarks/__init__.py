"""Every performance figure the documentation states."""
