"""MAVLink 2 from pymavlink: the common messages, and those of the development dialect that clients already use."""

from skyloop_client.errors import SetupError

try:
    from pymavlink.dialects.v20 import development as mavlink
except ModuleNotFoundError:
    raise SetupError("MAVLink needs the package pymavlink; install it with: pip install 'skyloop[mavlink]'") from None

__all__ = ["mavlink"]
