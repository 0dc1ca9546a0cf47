"""Small rotation pieces for the kernels; scalars in, scalars out, so that nothing is allocated."""

# mypy: allow-untyped-defs

from skyloop.core.jit import inlined


@inlined
def to_world(w, x, y, z, ax, ay, az):
    """Turn a body vector into a world one by the quaternion (w, x, y, z)."""
    tx = 2.0 * (y * az - z * ay)
    ty = 2.0 * (z * ax - x * az)
    tz = 2.0 * (x * ay - y * ax)
    return ax + w * tx + y * tz - z * ty, ay + w * ty + z * tx - x * tz, az + w * tz + x * ty - y * tx


@inlined
def to_body(w, x, y, z, ax, ay, az):
    return to_world(w, -x, -y, -z, ax, ay, az)


@inlined
def cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@inlined
def multiply(a, b):
    """Of two quaternions (w, x, y, z)."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )
