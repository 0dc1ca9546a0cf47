#!/bin/sh
# Makes .venv from requirements.lock. Called by `make setup`, which skips it while the stamp is newer than the lock.
set -eu
cd "$(dirname "$0")/.."
python=$1
stamp=.venv/.set-up

fail() {
    echo "set-up: $1" >&2
    exit 1
}

if ! version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null); then
    fail "cannot run '$python'; install Python 3.11 or newer (Debian: python3), or name one: make setup PYTHON=python3.12"
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    fail "'$python' is Python $version, skyloop needs 3.11 or newer; name another: make setup PYTHON=python3.12"
fi

# An environment of another folder, of another Python, or an incomplete one, is created again.
reusable() {
    [ ! -e "$stamp" ] || [ "$(cat "$stamp")" = "$(pwd -P)" ] || return 1
    .venv/bin/python -m pip --version >/dev/null 2>&1
}
if reusable; then
    echo "set-up 1/4: using the environment in .venv"
else
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "'$python' cannot make environments; the Debian package python3-venv brings what it lacks"
    echo "set-up 1/4: making an environment in .venv with Python $version"
    "$python" -m venv --clear .venv
fi
rm -f "$stamp"

pip() {
    .venv/bin/python -m pip --disable-pip-version-check --no-input -qq "$@"
}
echo "set-up 2/4: installing $(grep -c '==' requirements.lock) pinned packages (about 800 MB, a minute or two)"
# the lock is whole, so nothing is left to be resolved; what is imported is compiled then, which is a tenth of it all
pip install --no-deps --no-compile -r requirements.lock ||
    fail "pip could not install requirements.lock (see above); is there a network, and a package index pip may use?"

echo "set-up 3/4: installing skyloop, its client, its plugins and the papers"
pip install --no-deps --no-build-isolation -e clients/python -e . -e plugins/skyloop-autonomy \
    -e plugins/skyloop-landing -e plugins/skyloop-detect -e plugins/skyloop-jax -e papers || fail "pip could not install skyloop from this folder (see above)"

echo "set-up 4/4: looking for system packages"
.venv/bin/python tools/system_packages.py flights
pwd -P >"$stamp"
