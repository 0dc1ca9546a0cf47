"""What skyloop brings by itself, registered as any plugin registers what it brings."""

from pathlib import Path

from skyloop.core.plugins import Plugin

_HERE = Path(__file__).parent

PLUGIN = Plugin(
    sensors={
        "imu": "skyloop.sensors.imu:Imu",
        "gnss": "skyloop.sensors.gnss:Gnss",
        "barometer": "skyloop.sensors.barometer:Barometer",
        "magnetometer": "skyloop.sensors.magnetometer:Magnetometer",
        "rangefinder": "skyloop.sensors.rangefinder:Rangefinder",
        "lidar": "skyloop.sensors.lidar:Lidar",
        "camera": "skyloop.sensors.camera:Camera",
        "depth_camera": "skyloop.sensors.depth_camera:DepthCamera",
        "optical_flow": "skyloop.sensors.optical_flow:OpticalFlow",
        "radar": "skyloop.sensors.radar.radar:Radar",
    },
    processors={"RadarScan": "skyloop.sensors.radar.processing.processor:RadarProcessor"},
    worlds={
        "flat": "skyloop.world.worlds.open_ground:Flat",
        "hills": "skyloop.world.worlds.open_ground:Hills",
        "blocks": "skyloop.world.worlds.blocks:Blocks",
        "room": "skyloop.world.worlds.room:Room",
        "corridor": "skyloop.world.worlds.corridor:Corridor",
        "house": "skyloop.world.worlds.house:House",
        "landing": "skyloop.world.worlds.landing:Landing",
        "radar-lab": "skyloop.world.worlds.open_ground:RadarLab",
        "park": "skyloop.world.worlds.park:Park",
        "forest": "skyloop.world.worlds.forest:Forest",
        "urban": "skyloop.world.worlds.urban:Urban",
        "urban-walls": "skyloop.world.worlds.urban_walls:UrbanWalls",
        "warehouse": "skyloop.world.worlds.warehouse:Warehouse",
    },
    airframes=_HERE / "vehicle" / "airframes",
    controllers={
        "cascade": "skyloop.vehicle.kernel_packing:CASCADE",
        "simpleflight": "skyloop.vehicle.kernel_packing:SIMPLEFLIGHT",
    },
    estimators={
        "ekf": "skyloop.sim.estimator_assembly:ekf_part",
        "link": "skyloop.sim.estimator_assembly:outside_part",
    },
    pilots={
        "hover": "skyloop.vehicle.pilots.pilots:HoverPilot",
        "trajectory": "skyloop.vehicle.pilots.pilots:TrajectoryPilot",
        "waypoints": "skyloop.vehicle.pilots.pilots:WaypointPilot",
    },
    links={
        "airsim": "skyloop.links.airsim.link:AirSimConfig",
        "ardupilot": "skyloop.links.autopilots.configs:ArdupilotConfig",
        "betaflight": "skyloop.links.autopilots.configs:BetaflightConfig",
        "cockpit": "skyloop.cockpit.cockpit_beside:CockpitConfig",
        "commands": "skyloop.cockpit.commands:CommandsConfig",
        "foxglove": "skyloop.links.foxglove.link:FoxgloveConfig",
        "gamepad": "skyloop.links.manual_control:GamepadConfig",
        "keyboard": "skyloop.links.manual_control:KeyboardConfig",
        "loop": "skyloop.links.loop.loop_link:LoopConfig",
        "mavlink": "skyloop.links.mavlink.link:MavlinkConfig",
        "px4": "skyloop.links.autopilots.configs:Px4Config",
        "px4-serial": "skyloop.links.autopilots.configs:Px4SerialConfig",
        "ros2": "skyloop.links.ros2.link:Ros2Config",
    },
    formats={
        "asl": "skyloop.recording.formats.registry:ASL",
        "voc": "skyloop.recording.formats.registry:VOC",
        "coco": "skyloop.recording.formats.registry:COCO",
        "yolo": "skyloop.recording.formats.registry:YOLO",
        "mcap": "skyloop.recording.formats.registry:MCAP",
        "tum": "skyloop.recording.formats.registry:TUM",
        "kitti": "skyloop.recording.formats.registry:KITTI",
        "csv": "skyloop.datasets.tables:FORMAT",
    },
    scenarios=_HERE / "sim" / "scenarios",
    verbs={
        "run": "skyloop.cli.run:app",
        "campaign": "skyloop.cli.campaign:app",
        "cockpit": "skyloop.cli.cockpit:app",
        "datasets": "skyloop.cli.datasets:app",
        "loop": "skyloop.cli.loop:app",
        "mavlink": "skyloop.cli.mavlink:app",
        "serve": "skyloop.cli.serve:app",
    },
)
