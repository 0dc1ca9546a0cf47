"""What the verbs of this plugin do."""
