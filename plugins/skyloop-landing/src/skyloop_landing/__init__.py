"""Landing on a marker by camera: detector, board, firmware, logic."""
