"""The list of the cockpit's calls as a plain page."""

from __future__ import annotations

import html
from typing import Any


def calls_page(schema: dict[str, Any]) -> str:
    """The calls as a plain page, without scripts from elsewhere."""
    rows = []
    for path, methods in schema["paths"].items():
        for method, call in methods.items():
            body = call.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            taken = body.get("$ref", "").rpartition("/")[2]
            fields = schema.get("components", {}).get("schemas", {}).get(taken, {}).get("properties", {})
            told = html.escape(call.get("description", ""))
            names = html.escape(", ".join(fields))
            rows.append(
                f"<tr><td>{method.upper()}</td><td><code>{html.escape(path)}</code></td><td>{told}</td>"
                f"<td>{names}</td></tr>"
            )
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>skyloop cockpit: calls</title>"
        "<meta name=viewport content='width=device-width'><style>body{font:16px/1.5 system-ui;max-width:70rem;"
        "margin:2rem auto;padding:0 1rem}td,th{padding:.4rem .8rem;text-align:left;vertical-align:top;"
        "border-bottom:1px solid #8886}table{border-collapse:collapse}:root{color-scheme:light dark}</style>"
        "<h1>The cockpit's calls</h1><p>Everything that the page does is one of these. "
        "<a href=/api/openapi.json>openapi.json</a> has all details. The socket <code>/api/live</code> sends binary "
        "frames (4 bytes little-endian: length of a JSON header; the header; a payload) and takes "
        '<code>{"want": ["truth/drone", ...]}</code> and '
        '<code>{"order": "hover", "vehicle": "drone", "arguments": {}, "id": 1}</code>.</p>'
        f"<table><tr><th>method<th>path<th>what it does<th>fields</tr>{''.join(rows)}</table></html>"
    )
