"""AirSim's and Cosys-AirSim's methods for lamps."""

from __future__ import annotations

from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.structures import names_of, number_of
from skyloop_client.errors import LinkError

BRIGHTEST = 1e6


class LampMethods:
    """All return False where there is no such lamp."""

    def __init__(self, server: ServerState) -> None:
        self._server = server

    def simSetLightIntensity(self, light_name: str, intensity: float) -> bool:
        """In Unreal's units; 5000 is usual. It also switches the lamp on."""
        value = number_of(intensity, "intensity", BRIGHTEST)
        if value < 0.0:
            raise LinkError(f"intensity is {value:g}; give 0 or more")
        return self._switch(light_name, value, on=True)

    def simSetWorldLightIntensity(self, light_name: str, intensity: float) -> bool:
        return self.simSetLightIntensity(light_name, intensity)

    def simSetWorldLightVisibility(self, light_name: str, is_visible: bool = True) -> bool:
        """Off keeps the intensity."""
        return self._switch(light_name, None, on=bool(is_visible))

    def _switch(self, name: object, intensity: float | None, *, on: bool) -> bool:
        editor = self._server.editor
        known = {shown: number for own, number in reversed(editor.things().items()) for shown in names_of(own)}
        return str(name) in known and editor.switch_lamp(known[str(name)], intensity, on=on)
