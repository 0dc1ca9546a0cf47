"""The benchmarks `skyloop bench` knows, by name; imported only when asked for."""

BENCHES = {
    "physics": (
        "skyloop.bench.physics",
        "flight kernels and a whole scenario, beside RotorPy in the same run",
    ),
}
"""name: (module with measure() -> list[Figure], one line)."""
