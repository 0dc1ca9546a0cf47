"""Trees, bushes and other things that grow or lie on the ground, made of real triangles and shared by instancing."""
