"""The public API: what users and plugins may import. docs/reference/api.md lists it with a line about each name.

All other modules may change without notice. `make lint` refuses a plugin that imports them; a new name here needs a
docstring, and `make pages` writes the page anew. There are at most 300.
"""

PUBLIC: dict[str, dict[str, str]] = {
    "Plugins": {
        "skyloop.core.plugins": "Plugin",
    },
    "Scenarios and simulations": {
        "skyloop": "Scenario Simulation build campaign load_scenario make_scenario",
        "skyloop.run": "Progress run_scenario",
        "skyloop.sim.assembly": "load_airframe",
        "skyloop.sim.parts": "PilotPart",
        "skyloop.sim.scenario": "Vehicle",
        "skyloop.sim.simulation_port": "FlightMemory SimulationPort",
        "skyloop.sim.survey": "survey_of",
        "skyloop.sim.world_view": "WorldView",
    },
    "Messages, streams and errors": {
        "skyloop_client": "Bundle Session connect fly part regular_files",
        "skyloop_client.codec": "encode",
        "skyloop_client.errors": (
            "DatasetError Interrupted LinkEnded LinkError MissingExtra PartError RendererError ScenarioError "
            "SetpointError SetupError SkyloopError StreamError nearest_name unknown_name"
        ),
        "skyloop_client.estimator": "Answer EstimatorSetup",
        "skyloop_client.messages": (
            "ActuatorState Arm Array Attitude BarometerSample BatteryState CameraImage Contact DepthImage "
            "Detections Disarm Estimate Event EventKind GnssFix GoHome Goal GoalStatus GridMap Hover Image "
            "ImageTruth ImuBias ImuSample KeyPose Kinematics Label Land LandingStatus LidarScan "
            "MagnetometerSample Marker Markers Message Motors Movers Number OpticalFlowSample Path PointCloud "
            "Position RadarDetections RadarScan RangeDopplerImage RangeSample Rates Request Setpoint "
            "SetpointState StartConditions TakeOff VehicleState VehicleStatus Velocity VoxelMap"
        ),
        "skyloop_client.messages.samples": "LUMA luma",
        "skyloop_client.user_code": "is_plugin load_plugin",
        "skyloop_client.streams": "NS_PER_S Rate StreamInfo",
    },
    "Sensors": {
        "skyloop.sensors.camera": "Camera CameraConfig PRESETS",
        "skyloop.sensors.faults": "Fault add_error apply_faults",
        "skyloop.sensors.imu": "Imu",
        "skyloop.sensors.radar.processing.tracking": "clusters",
        "skyloop.sensors.sensor": "Scene Sensor SensorConfig numbers_of",
    },
    "Vehicles, behaviours, pilots and estimators": {
        "skyloop.vehicle.airframe": "Airframe",
        "skyloop.vehicle.behaviours": (
            "Arrival Behaviour Cubics Facing Fence Fenced FlyVelocity Follow FollowPath For GoTo Heading "
            "HeldHeight Hold HoldAttitude HoldRates Once Orbit Order Situation Station Steps Sticks Track TurnTo "
            "Wait"
        ),
        "skyloop.vehicle.estimation.ekf": "EkfConfig",
        "skyloop.vehicle.estimation.localisation": "EkfLocaliser",
        "skyloop.vehicle.kernel_records": (
            "CONTROL_CASCADE DRAG_BOX DRAG_LINEAR DRAG_ROTOR DRAG_ROTOR_LINEAR DRAG_ROTOR_LUMPED PARAMS "
            "SET_MOTORS SET_POSITION SET_RATES SET_VELOCITY_BODY SET_VELOCITY_WORLD"
        ),
        "skyloop.vehicle.pilots.pilots": "TrajectoryPilotConfig",
        "skyloop.vehicle.pilots.sortie": "PilotConfig Reply Sortie",
        "skyloop.vehicle.rigid_body": "BOX_THRESHOLD REFERENCE_DENSITY",
        "skyloop.vehicle.trajectories.drawn": "DrawnGoals Survey",
        "skyloop.vehicle.trajectories.trajectories": "ExploreConfig LegsConfig",
    },
    "Worlds and pictures": {
        "skyloop.rendering.client": "Renderer",
        "skyloop.rendering.quality": "QUALITIES",
        "skyloop.world": "atmosphere",
        "skyloop.world.earth": "Earth EarthConfig",
        "skyloop.world.free_space": "cells_along corners_kept way_length",
        "skyloop.world.generation": "generator",
        "skyloop.world.ground": "Ground",
        "skyloop.world.model": "Model MoverStates",
        "skyloop.world.occupancy": "occupancy",
        "skyloop.world.rays": "RayTracer",
        "skyloop.world.scene": "WorldScene",
        "skyloop.world.scenery.actors.cars": "park_car",
        "skyloop.world.scenery.actors.paths": "MoverPath",
        "skyloop.world.scenery.actors.people": "add_stander add_walker",
        "skyloop.world.scenery.landing_marker": "LandingMarker",
        "skyloop.world.scenery.street_furniture": "bench_shape",
        "skyloop.world.scenery.warehouse_equipment": "COLOURS forklift_shape",
        "skyloop.world.semantics": "CLASSES CLASS_ID",
        "skyloop.world.views": "ViewPose ViewRequest",
        "skyloop.world.weather": "WeatherConfig weather_at",
        "skyloop.world.world": "Randomised WorldConfig build_world",
    },
    "Links": {
        "skyloop.links.autopilots.launching": "AutopilotProcess",
        "skyloop.links.inbox": "Inbox",
        "skyloop.links.link_gate": "Link LinkConfig LinkGate Onlooker all_vehicles",
    },
    "Recordings and datasets": {
        "skyloop.datasets.any_dataset": "one_seed",
        "skyloop.datasets.recording_run": "plan_recording record",
        "skyloop.datasets.seed_set": "JOINED write_joined",
        "skyloop.datasets.worker_processes": "WorkerJob Workers",
        "skyloop.recording.flight_log": "Curve ThinnedList",
        "skyloop.recording.flight_plot": "COLOURS INK REFERENCE saved_figure",
        "skyloop.recording.formats.coco": "CocoWriter",
        "skyloop.recording.formats.label_images": "LabelImage",
        "skyloop.recording.formats.registry": "Format",
        "skyloop.recording.formats.voc": "VocWriter",
        "skyloop.recording.recording": "Recording",
        "skyloop.recording.replay": "open_replay",
        "skyloop.recording.ros2.types": "message_class",
        "skyloop.recording.ros2.views": "View",
        "skyloop.recording.run_folder": "make_empty_folder plain writing_into",
        "skyloop.recording.run_reader": "read_run",
    },
    "Gymnasium": {
        "skyloop.gym.actions": "ActionMeaning MOST_ASIDE MOST_HEIGHT MOST_OFFSET MOST_SPEED MOST_YAW_RATE",
        "skyloop.gym.course": "Course",
        "skyloop.gym.episodes": "BAR BLOCKS BONUS CLOSE FAR HEIGHT LOST OPENING TURNING",
        "skyloop.gym.sb3": "SkyloopVecEnv",
        "skyloop.gym.tasks": "BOUNDS GATE HOVER find_task",
    },
    "Verbs of the command line": {
        "skyloop.cli.console": (
            "Foxglove Json Links Seed Sets err links_from load next_folder out print_summary print_verdict shown_flight"
        ),
        "skyloop.cli.datasets": "names",
        "skyloop.cli.logs": "Verbs is_quiet",
    },
    "Frames, numbers, files and compiled code": {
        "skyloop.core": "quantities rotations",
        "skyloop.core.detection_scores": "BoxScore overlaps",
        "skyloop.core.bus": "Bus",
        "skyloop.core.child_process": "tell",
        "skyloop.core.files": "CACHE_FOLDER PARTIAL write_whole",
        "skyloop.core.frames": (
            "GeoPoint LocalFrame SENSOR_FROM_CAMERA Transform matrix_from_quat quat_conjugate quat_from_euler "
            "quat_from_matrix quat_from_yaw quat_multiply rotate rotate_inverse rotvec_from_quat slerp "
            "yaw_from_quat"
        ),
        "skyloop.core.image_viewer": "ImageWindow",
        "skyloop.core.interrupts": "Interruption",
        "skyloop.core.jit": "WHEN_CALLED inlined kernel prepare record_type",
        "skyloop.core.keyed_random": "KeyedRandom",
        "skyloop.core.random_key": "stream_key",
        "skyloop.core.system_packages": "find_program",
        "skyloop.core.tracking": "assigned constant_velocity kalman_gain",
        "skyloop.core.validation": "validated",
    },
}
"""By topic, and by module in it, the names, separated by blanks."""
