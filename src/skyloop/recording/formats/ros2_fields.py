"""The fields of the ROS 2 messages that we write, send and take."""

FIELDS = {
    "action_msgs/GoalInfo": "unique_identifier_msgs/UUID goal_id, builtin_interfaces/Time stamp",
    "action_msgs/GoalStatus": "action_msgs/GoalInfo goal_info, int8 status",
    "action_msgs/GoalStatusArray": "action_msgs/GoalStatus[] status_list",
    "diagnostic_msgs/KeyValue": "string key, string value",
    "diagnostic_msgs/DiagnosticStatus": (
        "byte level, string name, string message, string hardware_id, diagnostic_msgs/KeyValue[] values"
    ),
    "diagnostic_msgs/DiagnosticArray": "std_msgs/Header header, diagnostic_msgs/DiagnosticStatus[] status",
    "geometry_msgs/Accel": "geometry_msgs/Vector3 linear, geometry_msgs/Vector3 angular",
    "geometry_msgs/TwistStamped": "std_msgs/Header header, geometry_msgs/Twist twist",
    "geometry_msgs/Wrench": "geometry_msgs/Vector3 force, geometry_msgs/Vector3 torque",
    "geometry_msgs/WrenchStamped": "std_msgs/Header header, geometry_msgs/Wrench wrench",
    "mavros_msgs/State": (
        "std_msgs/Header header, bool connected, bool armed, bool guided, bool manual_input, string mode, "
        "uint8 system_status"
    ),
    "radar_msgs/RadarReturn": (
        "float32 range, float32 azimuth, float32 elevation, float32 doppler_velocity, float32 amplitude"
    ),
    "radar_msgs/RadarScan": "std_msgs/Header header, radar_msgs/RadarReturn[] returns",
    "rmw_dds_common/Gid": "uint8[16] data",
    "rmw_dds_common/NodeEntitiesInfo": (
        "string node_namespace, string node_name, rmw_dds_common/Gid[] reader_gid_seq, "
        "rmw_dds_common/Gid[] writer_gid_seq"
    ),
    "rmw_dds_common/ParticipantEntitiesInfo": (
        "rmw_dds_common/Gid gid, rmw_dds_common/NodeEntitiesInfo[] node_entities_info_seq"
    ),
    "rmw_dds_common/Gid24": "uint8[24] data",
    "rmw_dds_common/NodeEntitiesInfo24": (
        "string node_namespace, string node_name, rmw_dds_common/Gid24[] reader_gid_seq, "
        "rmw_dds_common/Gid24[] writer_gid_seq"
    ),
    "rmw_dds_common/ParticipantEntitiesInfo24": (
        "rmw_dds_common/Gid24 gid, rmw_dds_common/NodeEntitiesInfo24[] node_entities_info_seq"
    ),
    "rosgraph_msgs/Clock": "builtin_interfaces/Time clock",
    "sensor_msgs/BatteryState": (
        "std_msgs/Header header, float32 voltage, float32 temperature, float32 current, float32 charge, "
        "float32 capacity, float32 design_capacity, float32 percentage, uint8 power_supply_status, "
        "uint8 power_supply_health, uint8 power_supply_technology, bool present, float32[] cell_voltage, "
        "float32[] cell_temperature, string location, string serial_number"
    ),
    "sensor_msgs/Range": (
        "std_msgs/Header header, uint8 radiation_type, float32 field_of_view, float32 min_range, float32 max_range, "
        "float32 range, float32 variance"
    ),
    "std_msgs/Bool": "bool data",
    "std_msgs/Empty": "uint8 structure_needs_at_least_one_member",
    "std_msgs/String": "string data",
    "trajectory_msgs/MultiDOFJointTrajectoryPoint": (
        "geometry_msgs/Transform[] transforms, geometry_msgs/Twist[] velocities, geometry_msgs/Twist[] accelerations, "
        "builtin_interfaces/Duration time_from_start"
    ),
    "trajectory_msgs/MultiDOFJointTrajectory": (
        "std_msgs/Header header, string[] joint_names, trajectory_msgs/MultiDOFJointTrajectoryPoint[] points"
    ),
    "unique_identifier_msgs/UUID": "uint8[16] uuid",
    "builtin_interfaces/Time": "int32 sec, uint32 nanosec",
    "builtin_interfaces/Duration": "int32 sec, uint32 nanosec",
    "std_msgs/Header": "builtin_interfaces/Time stamp, string frame_id",
    "std_msgs/MultiArrayDimension": "string label, uint32 size, uint32 stride",
    "std_msgs/MultiArrayLayout": "std_msgs/MultiArrayDimension[] dim, uint32 data_offset",
    "std_msgs/Float32MultiArray": "std_msgs/MultiArrayLayout layout, float32[] data",
    "std_msgs/Float64": "float64 data",
    "std_msgs/ColorRGBA": "float32 r, float32 g, float32 b, float32 a",
    "geometry_msgs/Point": "float64 x, float64 y, float64 z",
    "geometry_msgs/Vector3": "float64 x, float64 y, float64 z",
    "geometry_msgs/Quaternion": "float64 x, float64 y, float64 z, float64 w",
    "geometry_msgs/Pose": "geometry_msgs/Point position, geometry_msgs/Quaternion orientation",
    "geometry_msgs/PoseStamped": "std_msgs/Header header, geometry_msgs/Pose pose",
    "geometry_msgs/PoseWithCovariance": "geometry_msgs/Pose pose, float64[36] covariance",
    "geometry_msgs/Twist": "geometry_msgs/Vector3 linear, geometry_msgs/Vector3 angular",
    "geometry_msgs/TwistWithCovariance": "geometry_msgs/Twist twist, float64[36] covariance",
    "geometry_msgs/TwistWithCovarianceStamped": "std_msgs/Header header, geometry_msgs/TwistWithCovariance twist",
    "geometry_msgs/Transform": "geometry_msgs/Vector3 translation, geometry_msgs/Quaternion rotation",
    "geometry_msgs/TransformStamped": (
        "std_msgs/Header header, string child_frame_id, geometry_msgs/Transform transform"
    ),
    "tf2_msgs/TFMessage": "geometry_msgs/TransformStamped[] transforms",
    "nav_msgs/Odometry": (
        "std_msgs/Header header, string child_frame_id, geometry_msgs/PoseWithCovariance pose, "
        "geometry_msgs/TwistWithCovariance twist"
    ),
    "nav_msgs/MapMetaData": (
        "builtin_interfaces/Time map_load_time, float32 resolution, uint32 width, uint32 height, "
        "geometry_msgs/Pose origin"
    ),
    "nav_msgs/OccupancyGrid": "std_msgs/Header header, nav_msgs/MapMetaData info, int8[] data",
    "nav_msgs/Path": "std_msgs/Header header, geometry_msgs/PoseStamped[] poses",
    "sensor_msgs/CompressedImage": "std_msgs/Header header, string format, uint8[] data",
    "sensor_msgs/Image": (
        "std_msgs/Header header, uint32 height, uint32 width, string encoding, uint8 is_bigendian, uint32 step, "
        "uint8[] data"
    ),
    "sensor_msgs/RegionOfInterest": "uint32 x_offset, uint32 y_offset, uint32 height, uint32 width, bool do_rectify",
    "sensor_msgs/CameraInfo": (
        "std_msgs/Header header, uint32 height, uint32 width, string distortion_model, float64[] d, float64[9] k, "
        "float64[9] r, float64[12] p, uint32 binning_x, uint32 binning_y, sensor_msgs/RegionOfInterest roi"
    ),
    "sensor_msgs/PointField": "string name, uint32 offset, uint8 datatype, uint32 count",
    "sensor_msgs/PointCloud2": (
        "std_msgs/Header header, uint32 height, uint32 width, sensor_msgs/PointField[] fields, bool is_bigendian, "
        "uint32 point_step, uint32 row_step, uint8[] data, bool is_dense"
    ),
    "sensor_msgs/Imu": (
        "std_msgs/Header header, geometry_msgs/Quaternion orientation, float64[9] orientation_covariance, "
        "geometry_msgs/Vector3 angular_velocity, float64[9] angular_velocity_covariance, "
        "geometry_msgs/Vector3 linear_acceleration, float64[9] linear_acceleration_covariance"
    ),
    "sensor_msgs/NavSatStatus": "int8 status, uint16 service",
    "sensor_msgs/NavSatFix": (
        "std_msgs/Header header, sensor_msgs/NavSatStatus status, float64 latitude, float64 longitude, "
        "float64 altitude, float64[9] position_covariance, uint8 position_covariance_type"
    ),
    "sensor_msgs/FluidPressure": "std_msgs/Header header, float64 fluid_pressure, float64 variance",
    "sensor_msgs/MagneticField": (
        "std_msgs/Header header, geometry_msgs/Vector3 magnetic_field, float64[9] magnetic_field_covariance"
    ),
    "vision_msgs/Point2D": "float64 x, float64 y",
    "vision_msgs/Pose2D": "vision_msgs/Point2D position, float64 theta",
    "vision_msgs/BoundingBox2D": "vision_msgs/Pose2D center, float64 size_x, float64 size_y",
    "vision_msgs/ObjectHypothesis": "string class_id, float64 score",
    "vision_msgs/ObjectHypothesisWithPose": (
        "vision_msgs/ObjectHypothesis hypothesis, geometry_msgs/PoseWithCovariance pose"
    ),
    "vision_msgs/Detection2D": (
        "std_msgs/Header header, vision_msgs/ObjectHypothesisWithPose[] results, vision_msgs/BoundingBox2D bbox, "
        "string id"
    ),
    "vision_msgs/Detection2DArray": "std_msgs/Header header, vision_msgs/Detection2D[] detections",
    "visualization_msgs/UVCoordinate": "float32 u, float32 v",
    "visualization_msgs/MeshFile": "string filename, uint8[] data",
    "visualization_msgs/Marker": (
        "std_msgs/Header header, string ns, int32 id, int32 type, int32 action, geometry_msgs/Pose pose, "
        "geometry_msgs/Vector3 scale, std_msgs/ColorRGBA color, builtin_interfaces/Duration lifetime, "
        "bool frame_locked, geometry_msgs/Point[] points, std_msgs/ColorRGBA[] colors, string texture_resource, "
        "sensor_msgs/CompressedImage texture, visualization_msgs/UVCoordinate[] uv_coordinates, string text, "
        "string mesh_resource, visualization_msgs/MeshFile mesh_file, bool mesh_use_embedded_materials"
    ),
    "visualization_msgs/MarkerArray": "visualization_msgs/Marker[] markers",
}
"""By type, in the order they are sent. vision_msgs is version 4. An empty message of ROS has one byte on
the wire. Until Humble the identity of an endpoint had 24 bytes; those types end with 24 here, not on the wire."""
