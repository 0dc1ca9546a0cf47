"""Shows a running simulation live in the Foxglove app, over its WebSocket protocol."""
