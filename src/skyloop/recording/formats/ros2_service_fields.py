"""The fields of the ROS 2 services and actions that we serve; simulation_interfaces is version 2.1."""

EMPTY = "uint8 structure_needs_at_least_one_member"
"""What ROS sends for a message without fields."""
SI = "simulation_interfaces"
TYPES = {
    f"{SI}/Bounds": "uint8 type, geometry_msgs/Vector3[] points",
    f"{SI}/EntityCategory": "uint8 category",
    f"{SI}/EntityFilters": (
        f"string filter, {SI}/EntityCategory[] categories, {SI}/TagsFilter tags, {SI}/Bounds bounds"
    ),
    f"{SI}/EntityInfo": f"{SI}/EntityCategory category, string description, string[] tags",
    f"{SI}/EntityState": (
        "std_msgs/Header header, geometry_msgs/Pose pose, geometry_msgs/Twist twist, geometry_msgs/Accel acceleration"
    ),
    f"{SI}/NamedPose": "string name, string description, string[] tags, geometry_msgs/Pose pose",
    f"{SI}/Resource": "string uri, string resource_string",
    f"{SI}/Result": "uint8 result, string error_message",
    f"{SI}/SimulationState": "uint8 state",
    f"{SI}/SimulatorFeatures": "uint16[] features, string[] spawn_formats, string custom_info",
    f"{SI}/SpawnEntity": (
        f"string name, bool allow_renaming, {SI}/Resource entity_resource, string entity_namespace, "
        "geometry_msgs/PoseStamped initial_pose"
    ),
    f"{SI}/SpawnResult": f"{SI}/Result result, string entity_name",
    f"{SI}/Spawnable": f"{SI}/Resource entity_resource, string description, {SI}/Bounds spawn_bounds",
    f"{SI}/TagsFilter": "string[] tags, uint8 filter_mode",
    f"{SI}/WorldResource": f"string name, {SI}/Resource world_resource, string description, string[] tags",
}
CALLS = {
    f"{SI}/srv/DeleteEntity": ("string entity", f"{SI}/Result result"),
    f"{SI}/srv/GetAvailableWorlds": (
        f"string[] additional_sources, {SI}/TagsFilter filter, bool offline_only, bool continue_on_error",
        f"{SI}/Result result, {SI}/WorldResource[] worlds",
    ),
    f"{SI}/srv/GetCurrentWorld": (EMPTY, f"{SI}/Result result, {SI}/WorldResource world"),
    f"{SI}/srv/GetEntities": (f"{SI}/EntityFilters filters", f"{SI}/Result result, string[] entities"),
    f"{SI}/srv/GetEntitiesStates": (
        f"{SI}/EntityFilters filters", f"{SI}/Result result, string[] entities, {SI}/EntityState[] states",
    ),
    f"{SI}/srv/GetEntityBounds": ("string entity", f"{SI}/Result result, {SI}/Bounds bounds"),
    f"{SI}/srv/GetEntityInfo": ("string entity", f"{SI}/Result result, {SI}/EntityInfo info"),
    f"{SI}/srv/GetEntityState": ("string entity", f"{SI}/Result result, {SI}/EntityState state"),
    f"{SI}/srv/GetNamedPoseBounds": ("string name", f"{SI}/Result result, {SI}/Bounds bounds"),
    f"{SI}/srv/GetNamedPoses": (f"{SI}/TagsFilter tags", f"{SI}/Result result, {SI}/NamedPose[] poses"),
    f"{SI}/srv/GetSimulationState": (EMPTY, f"{SI}/SimulationState state, {SI}/Result result"),
    f"{SI}/srv/GetSimulatorFeatures": (EMPTY, f"{SI}/SimulatorFeatures features"),
    f"{SI}/srv/GetSpawnables": ("string[] sources", f"{SI}/Result result, {SI}/Spawnable[] spawnables"),
    f"{SI}/srv/LoadWorld": (
        f"{SI}/Resource world_resource, bool fail_on_unsupported_element, bool ignore_missing_or_unsupported_assets",
        f"{SI}/Result result, {SI}/WorldResource world",
    ),
    f"{SI}/srv/ResetSimulation": ("uint8 scope", f"{SI}/Result result"),
    f"{SI}/srv/SetEntityInfo": (f"string entity, {SI}/EntityInfo info", f"{SI}/Result result"),
    f"{SI}/srv/SetEntityState": (
        f"string entity, {SI}/EntityState state, bool set_pose, bool set_twist, bool set_acceleration",
        f"{SI}/Result result",
    ),
    f"{SI}/srv/SetSimulationState": (f"{SI}/SimulationState state", f"{SI}/Result result"),
    f"{SI}/srv/SpawnEntities": (
        f"{SI}/SpawnEntity[] spawn_requests", f"{SI}/Result result, {SI}/SpawnResult[] results",
    ),
    f"{SI}/srv/SpawnEntity": (
        f"string name, bool allow_renaming, {SI}/Resource entity_resource, string entity_namespace, "
        "geometry_msgs/PoseStamped initial_pose",
        f"{SI}/Result result, string entity_name",
    ),
    f"{SI}/srv/StepSimulation": ("uint64 steps", f"{SI}/Result result"),
    f"{SI}/srv/UnloadWorld": (EMPTY, f"{SI}/Result result"),
    f"{SI}/action/SimulateSteps_SendGoal": (
        f"unique_identifier_msgs/UUID goal_id, {SI}/action/SimulateSteps_Goal goal",
        "bool accepted, builtin_interfaces/Time stamp",
    ),
    f"{SI}/action/SimulateSteps_GetResult": (
        "unique_identifier_msgs/UUID goal_id", f"int8 status, {SI}/action/SimulateSteps_Result result",
    ),
    "action_msgs/srv/CancelGoal": (
        "action_msgs/GoalInfo goal_info", "int8 return_code, action_msgs/GoalInfo[] goals_canceling",
    ),
    "std_srvs/srv/Trigger": (EMPTY, "bool success, string message"),
    "std_srvs/srv/SetBool": ("bool data", "bool success, string message"),
    "mavros_msgs/srv/CommandBool": ("bool value", "bool success, uint8 result"),
    "mavros_msgs/srv/CommandTOL": (
        "float32 min_pitch, float32 yaw, float32 latitude, float32 longitude, float32 altitude",
        "bool success, uint8 result",
    ),
    "mavros_msgs/srv/SetMode": ("uint8 base_mode, string custom_mode", "bool mode_sent"),
}  # fmt: skip
"""By service: the fields of its request and of its reply."""
ACTION_PARTS = {
    f"{SI}/action/SimulateSteps_Goal": "uint64 steps",
    f"{SI}/action/SimulateSteps_Result": f"{SI}/Result result",
    f"{SI}/action/SimulateSteps_Feedback": "uint64 completed_steps, uint64 remaining_steps",
    f"{SI}/action/SimulateSteps_FeedbackMessage": (
        f"unique_identifier_msgs/UUID goal_id, {SI}/action/SimulateSteps_Feedback feedback"
    ),
}
SERVICES = {
    **TYPES,
    **ACTION_PARTS,
    **{f"{name}_Request": request for name, (request, _) in CALLS.items()},
    **{f"{name}_Response": reply for name, (_, reply) in CALLS.items()},
}
"""Fields by type."""
