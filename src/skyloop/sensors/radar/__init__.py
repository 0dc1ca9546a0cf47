"""FMCW radar: raw IF data from the renderer's buffers."""
