"""The benchmarks `skyloop bench` knows, by name; imported only when asked for."""

BENCHES = {
    "airsim": ("skyloop.bench.airsim", "pictures per second for an AirSim client, beside the renderer in the same run"),
    "camera": ("skyloop.bench.camera", "pictures of park and room, beside PyBullet and MuJoCo in the same run"),
    "flight": ("skyloop.bench.flight", "how closely the built-in controller flies, on twenty seeds"),
    "gym": (
        "skyloop.bench.gym",
        "Gymnasium environments, beside gym-pybullet-drones at the same rates in the same run",
    ),
    "lidar": ("skyloop.bench.lidar", "LiDAR points per second, beside bare Embree on the same rays"),
    "link": (
        "skyloop.bench.link",
        "bundles per second and round trips of the link, beside plain sockets in the same run",
    ),
    "physics": (
        "skyloop.bench.physics",
        "flight kernels and a whole scenario, beside RotorPy in the same run",
    ),
    "radar": ("skyloop.bench.radar", "radar bursts over park, beside the paper's sum over pixels in the same run"),
    "record": ("skyloop.bench.record", "recordings in park: frames per second, overlap, what the journal costs"),
}
"""name: (module with measure() -> list[Figure], one line)."""
