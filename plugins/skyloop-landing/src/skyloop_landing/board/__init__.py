"""The link to a landing board: serial frames, the line, the PC's procedure, video out, and the boards themselves."""
