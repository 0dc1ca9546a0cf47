"""FMCW radar: raw IF data, computed from the renderer's buffers."""
