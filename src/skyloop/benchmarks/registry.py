"""The benchmarks of `skyloop bench` by name. A benchmark is imported only on request."""

BENCHES = {
    "airsim": ("skyloop.benchmarks.airsim", "pictures per second for an AirSim client, beside the bare renderer"),
    "batch": (
        "skyloop.benchmarks.batch",
        "the flight in JAX on the device found, beside the flight kernel in the same run; learning to hover",
    ),
    "camera": ("skyloop.benchmarks.camera", "pictures of park and room, beside PyBullet and MuJoCo in the same run"),
    "campaign": (
        "skyloop.benchmarks.campaign",
        "runs of a campaign per second on one worker and on all cores, and runs lost when a worker is killed",
    ),
    "cockpit": ("skyloop.benchmarks.cockpit", "how often viewers see a flight, how late, and what it costs the flight"),
    "detect": (
        "skyloop.benchmarks.detect",
        "the people detector: images per second on one core, beside torch in the same run, and average precision",
    ),
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
    "ros2": (
        "skyloop.benchmarks.ros2",
        "the ROS 2 node: its share of a core, the latency of images, and 1 MB messages beside bare DDS",
    ),
    "vio": ("skyloop.benchmarks.vio", "localisation with two cameras and an IMU: errors, consistency, time per pair"),
    "vio-backends": (
        "skyloop.benchmarks.vio_backends",
        "the odometry's filter beside a fixed-lag smoother (GTSAM) on the same tracks: errors, time, consistency",
    ),
}
"""name: (module with measure() -> list[Figure], one line)."""


def listed() -> dict[str, str]:
    """For `skyloop list`: names with one line each."""
    return {name: text for name, (_, text) in BENCHES.items()}
