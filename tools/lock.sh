#!/bin/sh
# Writes requirements.lock: the newest versions pyproject.toml allows, tried out in a throw-away environment.
set -eu
# the first of those that pyproject.toml allows: distributions keep early ones (Debian 12 has 3.11.2)
LOWEST=3.11.0
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

echo "lock 1/3: installing the newest versions into a throw-away environment (a minute or two)"
"$1" -m venv "$folder/venv"
python=$folder/venv/bin/python
"$python" -m pip --disable-pip-version-check --no-input -qq install ./clients/python ".[dev,bench,view]"
"$python" -m pip --disable-pip-version-check check

{
    echo "# Every package of the environment, pinned: skyloop's own, those for development and for the bench."
    echo "# Written by \`make lock\` from pyproject.toml; do not edit by hand."
    "$python" -m pip --disable-pip-version-check freeze --exclude skyloop --exclude skyloop-client | LC_ALL=C sort -f
} >"$folder/lock"
echo "lock 2/3: asking whether all of them install on Python $LOWEST"
"$python" -m pip --disable-pip-version-check --no-input -qq install --dry-run --no-deps --only-binary=:all: \
    --python-version "$LOWEST" --target "$folder/none" -r "$folder/lock"
cp "$folder/lock" requirements.lock
echo "lock 3/3: wrote requirements.lock with $(grep -c '==' requirements.lock) packages"
