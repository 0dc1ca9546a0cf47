"""One file per thing a user starts: run, loop, autopilot, serve, mavlink, fly, look, size, doctor."""
