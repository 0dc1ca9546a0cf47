"""A running simulation shown live in the Foxglove app, over its WebSocket protocol."""
