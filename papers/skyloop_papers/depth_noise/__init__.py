"""depth camera noise by distance and material, section 2 of the depth-noise-and-rotor-drag paper"""
