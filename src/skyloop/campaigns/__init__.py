"""Many runs of one thing: planned, made on many cores or machines, kept, judged and shown."""
