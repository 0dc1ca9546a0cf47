"""Writes the records of `skyloop_client.messages` for other languages: structs of the C++ client, between two marks of
its header, and interfaces of the cockpit's page. `make pages` calls it; a test sees that they are current.

    .venv/bin/python tools/record_types.py
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import skyloop_client.messages as messages
from skyloop_client.schema import RecordField, record_fields

ROOT = Path(__file__).parents[1]
HEADER = ROOT / "clients" / "cpp" / "skyloop_client.hpp"
PAGE = ROOT / "web" / "cockpit" / "src" / "records.ts"
BEGIN, END = "// ---- records, written by tools/record_types.py\n", "// ---- end of what it writes\n"
CPP = (
    "ImuSample", "ImuBias", "GnssFix", "BarometerSample", "MagnetometerSample", "RangeSample", "OpticalFlowSample",
    "LidarScan", "DepthImage", "RadarScan", "RangeDopplerImage", "RadarDetections", "BatteryState", "VehicleStatus",
)  # fmt: skip
"""Those that a program on a target gets, but for VehicleState and CameraImage, which are more than their fields."""
TYPESCRIPT = ("VehicleState", "Estimate", "BatteryState", "VehicleStatus")
"""Those whose numbers the page shows as they are."""
PLAIN = {int: ("std::int64_t", "0", "integer"), float: ("double", "0", "number"), bool: ("bool", "false", "boolean")}


def main() -> None:
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")


def written() -> dict[Path, str]:
    """The texts of the files."""
    before, _, rest = HEADER.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    if not after:
        sys.exit(f"{HEADER} has lost the marks around what is written")
    return {HEADER: before + BEGIN + "".join(map(cpp_struct, CPP)) + END + after, PAGE: typescript()}


# ---- C++


def cpp_struct(name: str) -> str:
    fields = list(record_fields(getattr(messages, name)).values())
    values = ", ".join(cpp_read(field) for field in fields)
    lines = [f"struct {name} {{", *(f"    {cpp_member(field)}" for field in fields)]
    lines.append(f"    static {name} from(const Value& value) {{")
    lines.append(f'        expect_record(value, {{"{name}"}});')
    lines += textwrap.wrap(
        f"return {{{values}}};", 118, initial_indent=" " * 8, subsequent_indent=" " * 16, break_long_words=False
    )
    return "\n".join([*lines, "    }", "};\n"])


def cpp_member(field: RecordField) -> str:
    note = field.note
    shape = "" if note.shape is None or isinstance(note.shape[0], int) else f"({', '.join(map(str, note.shape))})"
    said = ", ".join(part for part in (shape, note.unit, note.meaning[:1].lower() + note.meaning[1:]) if part)
    said = said.rstrip(".")
    kind, default = cpp_type(field)
    made = f"{kind} {field.name}{f' = {default}' if default else '{}' if kind != 'Array' else ''};"
    if field.name == "t_ns" or len(f"    {made}  // {said}") > 118:
        said = said.split(";")[0].split(":")[0]
    lines = textwrap.wrap(said, 110)
    if len(f"    {made}  // {said}") <= 118:
        return f"{made}  // {said}"
    return "\n    ".join([*(f"// {line}" for line in lines), made])


def cpp_type(field: RecordField) -> tuple[str, str]:
    """The type of a member, and its default if it needs one."""
    if field.type in PLAIN:
        return PLAIN[field.type][:2]
    if field.type is str:
        return "std::string", ""
    shape = field.note.shape
    if shape is not None and len(shape) == 1 and isinstance(shape[0], int):
        return {3: ("Vector", ""), 4: ("Quaternion", "")}.get(shape[0], (f"std::array<double, {shape[0]}>", ""))
    return "Array", ""


def cpp_read(field: RecordField) -> str:
    kind, _ = cpp_type(field)
    value = f'value["{field.name}"]'
    if field.type in PLAIN:
        return f"{value}.{PLAIN[field.type][2]}()"
    if kind == "std::string":
        return f"{value}.text()"
    return f"{value}.array()" if kind == "Array" else f"{value}.numbers<{(field.note.shape or ())[0]}>()"


# ---- TypeScript


def typescript() -> str:
    parts = ["// Written by tools/record_types.py: the numbers of records as the server sends them."]
    for name in TYPESCRIPT:
        record = getattr(messages, name)
        parts.append(f"\n// {(record.__doc__ or '').splitlines()[0]}\nexport interface {name} {{")
        for field in record_fields(record).values():
            if field.name in ("t_ns", "covariance"):
                continue
            told = " ".join(part for part in (shape_text(field), field.note.unit) if part)
            optional = "?" if field.optional else ""
            parts.append(f"  {field.name}{optional}: {typescript_type(field)};{f'  // {told}' if told else ''}")
            if field.name == "quat_wxyz":
                parts.append("  attitude_deg: [number, number, number];  // roll, pitch, yaw")
        parts.append("}")
    return "\n".join(parts) + "\n"


def typescript_type(field: RecordField) -> str:
    simple = {int: "number", float: "number", bool: "boolean", str: "string"}
    if field.type in simple:
        return simple[field.type]
    match field.note.shape:
        case (int(length),):
            return f"[{', '.join(['number'] * length)}]"
    return "number[]"


def shape_text(field: RecordField) -> str:
    return "" if field.note.shape is None else f"({', '.join(map(str, field.note.shape))})"


if __name__ == "__main__":
    main()
