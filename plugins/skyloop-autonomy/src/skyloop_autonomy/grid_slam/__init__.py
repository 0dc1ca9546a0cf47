"""Mapping an unknown city in a level plane while flying through it: a particle filter with a grid per particle, lines,
and ways through the grid."""
