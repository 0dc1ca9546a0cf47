"""rotor drag against linear drag, section 3 of the depth-noise-and-rotor-drag paper"""
