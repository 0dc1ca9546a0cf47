"""What the simulation and the process that speaks DDS say to each other, and the memory that they share.

Orders go through a pipe, in order; the bytes they are about are in the shared memory. What is heard comes back through
another pipe, with its bytes. Endpoints are known by the numbers in which they were opened."""

from __future__ import annotations

import struct

ORDER = struct.Struct("<IIQQ8x")
"""What, of which endpoint, and where its bytes are in the shared memory: start and size."""
OPEN_WRITER, OPEN_READER, SEND = 1, 2, 3
"""To open takes a JSON of topic, type and quality."""
EVENT = struct.Struct("<IIQ")
"""What, of which endpoint, and how many bytes follow."""
READY, OPENED, TAKEN, FAILED = 1, 2, 3, 4
"""The participant's identity, an endpoint's identity, a message, and why there is no participant."""
MOST_ENDPOINTS = 8192
COUNTS = 2
DONE, LOST = 0, 1
"""uint64 at the start of the memory: orders that were carried out, and messages for which DDS had no room."""
MATCHED = 64
"""Where the memory has a byte for each endpoint: how many of others it is matched with, 255 at most."""
DATA = 16384
"""Where the bytes of messages begin."""
SIZE = DATA + (64 << 20)
"""Of the memory. Pages that were never used take no room."""
