"""The papers' tasks as software under test: they run on the target, over a session."""
