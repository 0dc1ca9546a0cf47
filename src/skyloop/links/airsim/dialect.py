"""Tells AirSim's own client from Cosys-AirSim's. They share most calls, but some calls mean different things.

The first calls of both clients are the same. A client is recognised by a method that only one of the two has, or by the
number of parameters of a call. Until then the server's default dialect applies."""

from __future__ import annotations

from enum import Enum

from skyloop.links.airsim.wire import Call


class Dialect(Enum):
    AIRSIM = "airsim"
    """Raw images are BGR. Segmentation ids are 0 to 255. LiDAR points are in the vehicle's NED axes."""
    COSYS = "cosys"
    """Raw images are RGB. Ids go up to 2 743 999. LiDAR points are in the sensor's axes; its pose comes along."""


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
"""Number of parameters that AirSim's client sends, and that Cosys-AirSim's client sends."""


def dialect_of(call: Call) -> Dialect | None:
    """The dialect that a call reveals, or None."""
    if call.method in COSYS_ONLY:
        return Dialect.COSYS
    if call.method in PARAMETERS:
        return dict(zip(PARAMETERS[call.method], Dialect, strict=True)).get(len(call.params))
    match call.method, call.params:
        case "simGetImages", [[dict() as request, *_], *_]:
            # Cosys-AirSim's requests always have a field for an annotation layer
            return Dialect.COSYS if "annotation_name" in request else Dialect.AIRSIM
        case "simGetImage", [_, _, _, str() | bool() as last]:
            return Dialect.COSYS if isinstance(last, str) else Dialect.AIRSIM
    return None
