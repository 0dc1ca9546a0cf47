"""Hover and gate in JAX, on the device that JAX finds (a GPU, or the CPU); see docs/how-to/gym.md."""

from __future__ import annotations

from skyloop_client.errors import MissingExtra

try:
    import jax  # noqa: F401
except ImportError:
    raise MissingExtra("skyloop.gym.device needs JAX, which is not installed: pip install 'skyloop[batch]'") from None

from skyloop.gym.device.environment import DeviceEnv

__all__ = ["DeviceEnv"]
