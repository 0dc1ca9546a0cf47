"""Trees, bushes and what else grows or lies on the ground: real triangles, shared by instancing."""
