"""People found in images and followed in space, by camera boxes, radar points and depth."""
