"""The common dialect of MAVLink 2, from pymavlink."""

from skyloop_client.errors import SetupError

try:
    from pymavlink.dialects.v20 import common as mavlink
except ModuleNotFoundError:
    raise SetupError("MAVLink needs the package pymavlink; install it with: pip install 'skyloop[mavlink]'") from None

__all__ = ["mavlink"]
