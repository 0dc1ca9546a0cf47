"""Hover and gate in JAX, on the device that JAX finds (a GPU, or the CPU); see docs/how-to/gym.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skyloop_jax.environment import DeviceEnv

__all__ = ["DeviceEnv"]


def __getattr__(name: str) -> type[DeviceEnv]:
    """JAX takes a second to import, and skyloop looks at its plugins at every start."""
    if name != "DeviceEnv":
        raise AttributeError(f"module 'skyloop_jax' has no attribute '{name}'")
    from skyloop_jax.environment import DeviceEnv

    return DeviceEnv
