"""Writes and reads the output of a run: run folders, recordings, dataset formats, pictures and plots."""
