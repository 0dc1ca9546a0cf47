"""The foundation: time, bus, coordinate frames, random numbers, compilation. All may import it; it imports none."""
