#!/bin/sh
# Brings the peers of the benches that `make setup` does not bring. They lie in a folder of their own, because they want
# an old setuptools; `skyloop_papers/benchmarks/peers.py` looks there. Called by `make bench`.
set -eu
cd "$(dirname "$0")/.."
stamp=.venv/.bench-peers
folder=.venv/bench-peers

rm -rf "$stamp" "$folder"
echo "set-up of gym-pybullet-drones, a peer of 'skyloop bench gym'"
# without what it asks for: an old Gymnasium and PyTorch, of which it needs neither here
.venv/bin/python -m pip --disable-pip-version-check --no-input -qq install --no-deps --target "$folder" -r requirements-bench.lock || {
    echo "set-up: pip could not install requirements-bench.lock (see above); is there a network, and a package index pip may use?" >&2
    exit 1
}
touch "$stamp"
