"""Finds the landing marker in images from above and lands on it; see docs/explanations/landing-detector.md."""
