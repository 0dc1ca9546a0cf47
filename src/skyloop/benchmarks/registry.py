"""The benchmarks of `skyloop bench` by name. A benchmark is imported only on request."""

BENCHES = {
    "airsim": ("skyloop.benchmarks.airsim", "pictures per second for an AirSim client, beside the bare renderer"),
    "camera": ("skyloop.benchmarks.camera", "pictures of park and room, beside PyBullet and MuJoCo in the same run"),
    "fabric": (
        "skyloop.benchmarks.fabric",
        "the landing detector's logic: its share of a Zynq-7020, images per second simulated",
    ),
    "flight": ("skyloop.benchmarks.flight", "how closely the built-in controller flies, on twenty seeds"),
    "gym": (
        "skyloop.benchmarks.gym",
        "Gymnasium environments, beside gym-pybullet-drones at the same rates in the same run",
    ),
    "landing": (
        "skyloop.benchmarks.landing",
        "the landing detector on rendered pictures, beside OpenCV in floats in the same run",
    ),
    "lidar": ("skyloop.benchmarks.lidar", "LiDAR points per second, beside bare Embree on the same rays"),
    "link": (
        "skyloop.benchmarks.link",
        "bundles per second and round trips of the link, beside plain sockets in the same run",
    ),
    "maps": (
        "skyloop.benchmarks.maps",
        "depth images into voxels, local map and distance fields, beside octomap in the same run",
    ),
    "physics": (
        "skyloop.benchmarks.physics",
        "flight kernels and a whole scenario, beside RotorPy in the same run",
    ),
    "plan": (
        "skyloop.benchmarks.plan",
        "planners in E2ES's grids: time per plan, and the way's length beside the shortest there is",
    ),
    "radar": ("skyloop.benchmarks.radar", "radar bursts over park, beside the paper's sum over pixels in the same run"),
    "record": ("skyloop.benchmarks.record", "recordings in park: frames per second, overlap, what the journal costs"),
    "vio": ("skyloop.benchmarks.vio", "localisation with two cameras and an IMU: errors, consistency, time per pair"),
    "vio-backends": (
        "skyloop.benchmarks.vio_backends",
        "the odometry's filter beside a fixed-lag smoother (GTSAM) on the same tracks: errors, time, consistency",
    ),
}
"""name: (module with measure() -> list[Figure], one line)."""
