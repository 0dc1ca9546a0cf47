#!/bin/sh
# Adds torch to .venv for the tests of training. Called by `make test` and `make lint`, not by `make setup`: flights need no torch.
set -eu
cd "$(dirname "$0")/.."
stamp=.venv/.torch

rm -f "$stamp"
echo "set-up of torch, for the tests of training (200 MB for a CPU; 3 GB where the package index has only the build for GPUs)"
.venv/bin/python -m pip --disable-pip-version-check --no-input -qq install -c requirements.lock -r requirements-torch.lock || {
    echo "set-up: pip could not install requirements-torch.lock (see above); is there a network, and a package index pip may use?" >&2
    exit 1
}
touch "$stamp"
