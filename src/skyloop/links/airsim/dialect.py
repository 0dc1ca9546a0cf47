"""Which of the two a client is: AirSim's own or Cosys-AirSim's. They share most calls, and mean other things by some.

Nothing in the first calls tells them apart. Methods that only one has do, and the number of parameters of others: both
servers take exactly their own. Until one of these comes, the server's own choice counts.
"""

from __future__ import annotations

from enum import Enum

from skyloop.links.airsim.wire import Call


class Dialect(Enum):
    AIRSIM = "airsim"
    """Raw images are blue first; segmentation ids are 0 to 255; a LiDAR's points are told in the vehicle's NED."""
    COSYS = "cosys"
    """Red first; ids up to 2 743 999; points in the sensor's axes, and the sensor's pose on the vehicle."""


COSYS_ONLY = frozenset((
    "getComputerVisionState", "getEchoData", "getGPULidarData", "getUWBData", "getUWBSensorData", "getWifiData",
    "getWifiSensorData", "simEnableAnnotationObjectTextureByPath", "simGetAnnotationObjectColor",
    "simGetAnnotationObjectID", "simGetAnnotationObjectTexturePath", "simGetAnnotationObjectValue",
    "simGetPhysicsRawKinematics", "simListAnnotationObjects", "simListAnnotationPoses",
    "simListInstanceSegmentationObjects", "simListInstanceSegmentationPoses", "simListSceneObjectsTags",
    "simSetAnnotationObjectColor", "simSetAnnotationObjectID", "simSetAnnotationObjectTextureByPath",
    "simSetAnnotationObjectValue", "simSetExtForce", "simSetPhysicsRawKinematics", "simSetVehicleLightIntensity",
    "simSetVehicleLightVisibility", "simSetWorldLightIntensity", "simSetWorldLightVisibility",
))  # fmt: skip
PARAMETERS = {
    "simGetCameraInfo": (3, 2), "simSetCameraPose": (4, 3), "simSetCameraFov": (4, 3), "simGetObjectPose": (1, 2),
    "simGetDistortionParams": (3, 2), "simSetDistortionParam": (5, 4), "simGetCurrentFieldOfView": (3, 2),
    "simGetFocalLength": (3, 2), "simSetFocalLength": (4, 3), "simGetFilmbackSettings": (3, 2),
    "simSetFilmbackSettings": (5, 4),
}  # fmt: skip
"""How many AirSim's client sends, and how many Cosys-AirSim's."""


def dialect_of(call: Call) -> Dialect | None:
    """What a call tells of who sends it."""
    if call.method in COSYS_ONLY:
        return Dialect.COSYS
    if call.method in PARAMETERS:
        return dict(zip(PARAMETERS[call.method], Dialect, strict=True)).get(len(call.params))
    match call.method, call.params:
        case "simGetImages", [[dict() as request, *_], *_]:
            # Cosys-AirSim's requests can name a layer of annotations, and always do
            return Dialect.COSYS if "annotation_name" in request else Dialect.AIRSIM
        case "simGetImage", [_, _, _, str() | bool() as last]:
            return Dialect.COSYS if isinstance(last, str) else Dialect.AIRSIM
    return None
