"""Images of the world: an OpenGL renderer that runs in its own process, and its client."""
