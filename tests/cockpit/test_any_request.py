"""Whatever a request holds, the cockpit answers it: a result, or one line that says what is wrong."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_from_bytes

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cockpit_rig import CockpitRig, Viewer

pytestmark = pytest.mark.processes
HALF = [
    "\ud800", "a\udfffb", 'name: "\\ud800"', '{seed: "\\udc00"}', "seed: 1e999", "{}", "[", "..", "\0", "drone", "hover"
]  # fmt: skip
"""Half a surrogate pair, in JSON or in the YAML that it holds, and names that get further than others."""
TEXTS = st.sampled_from(HALF) | st.text(st.characters(blacklist_categories=()), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from([2**64, -(2**200), 10**400]) | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
STATUSES = {200, 303, 400, 401, 404, 405, 409, 413, 422}


def of_hypothesis(examples: int) -> settings:
    unimportant = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]
    return settings(
        max_examples=examples, deadline=None, derandomize=True, database=None, suppress_health_check=unimportant
    )


class Routes:
    """All calls that the cockpit lists, and a viewer that may give orders."""

    def __init__(self, rig: CockpitRig) -> None:
        self.rig = rig
        self.viewer: Viewer = rig.viewer()
        described = rig.get("/api/openapi.json")
        schemas = described["components"]["schemas"]
        self.calls: list[tuple[str, str, list[str]]] = []
        """Method, path, and the fields of the body."""
        for path, methods in described["paths"].items():
            for method, call in methods.items():
                body = call.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
                fields = schemas.get(body.get("$ref", "").rpartition("/")[2], {}).get("properties", {})
                self.calls.append((method.upper(), path, list(fields)))

    def status(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        line = http.client.HTTPConnection("127.0.0.1", self.rig.port, timeout=60)
        headers = {
            "Authorization": f"Bearer {self.rig.cockpit.server.token}", "X-Viewer": self.viewer.id,
            "Content-Type": "application/json",
        }  # fmt: skip
        line.request(method, path, body, headers)
        answer = line.getresponse()
        told = answer.status, answer.read()
        line.close()
        return told


@pytest.fixture(scope="module")
def routes(rig: CockpitRig) -> Iterator[Routes]:
    made = Routes(rig)
    yield made
    made.viewer.close()


def ask(routes: Routes, data: st.DataObject) -> None:
    method, path, fields = data.draw(st.sampled_from(routes.calls))
    while "{" in path:
        name = data.draw(st.sampled_from([b"drone", b"hover", b"..", b"\xed\xa0\x80"]) | st.binary(max_size=6))
        before, _, rest = path.partition("{")
        path = before + quote_from_bytes(name, safe="") + rest.partition("}")[2]
    some: st.SearchStrategy[Any] = st.fixed_dictionaries({}, optional=dict.fromkeys(fields, VALUES))
    body = data.draw(some | VALUES)
    sent = json.dumps(body).encode() if method == "POST" else b""
    status, told = routes.status(method, path, data.draw(st.just(sent) | st.binary(max_size=20)))
    assert status in STATUSES, (method, path, sent, told)
    if status >= 400:
        assert told.count(b"\n") == 0 and b"detail" in told


@of_hypothesis(80)
@given(data=st.data())
def test_any_request_is_answered(routes: Routes, data: st.DataObject) -> None:
    ask(routes, data)


@pytest.mark.slow("thousands of requests")
@of_hypothesis(4000)
@given(data=st.data())
def test_very_many_requests_are_answered(routes: Routes, data: st.DataObject) -> None:
    ask(routes, data)


@pytest.mark.parametrize("body", [{"text": "\ud800"}, {"text": "name: a", "changes": {"name": "\ud800"}}])
def test_half_a_surrogate_pair_is_told_in_one_line(routes: Routes, body: dict[str, Any]) -> None:
    for path in ("/api/flight/start", "/api/scenario/change"):
        told = routes.rig.call(path, body, X_Viewer=routes.viewer.id)
        assert told["status"] == 422 and "\n" not in told["detail"]
    assert "clock" in routes.rig.get("/api/about")
