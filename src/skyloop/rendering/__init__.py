"""Pictures of the world: an OpenGL renderer in a process of its own, and the client that asks it."""
