"""Every record on a stream, every setpoint and every request: the names of `skyloop_client.messages`, here too.

A pilot that is to run on a target, where the simulator is not installed, imports them from `skyloop_client.messages`.
"""

from skyloop_client.messages import *  # noqa: F403
from skyloop_client.messages import __all__ as __all__
