# Everything a user or the CI needs; plain pip does the rest. `make fly` is the place to start.
PYTHON ?= python3
SET_UP := .venv/.set-up
TORCH := .venv/.torch
PEERS := .venv/.bench-peers
# lint-imports without its script, whose first line cannot hold a path with a space
LINT_IMPORTS := from importlinter.cli import lint_imports_command as lint; lint()

# Containers often set this. The tests start hundreds of Python processes, and each would compile all its sources anew.
unexport PYTHONDONTWRITEBYTECODE
# Users do not set this. Where it is set, tests would not see that Python holds back what programs print.
unexport PYTHONUNBUFFERED
# Workers of the tests share the cores already; threads of BLAS and torch beside them would only wait for each other.
TEST_THREADS := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

.PHONY: firmware help setup fly check test pytest test-slow test-seeds soak bench gallery docs pages lint lock release clean

help:
	@echo "make fly        set up, then fly over a park and leave a small dataset with report.html"
	@echo "make setup      set up only; the command is then .venv/bin/skyloop"
	@echo "make firmware   the landing board's firmware, for 'skyloop land --board qemu'"
	@echo "make check      lint, types and the tests that need no rendering, processes, sockets or long flights: a minute"
	@echo "make test       lint, types, the site and the tests (what .ci/run calls): five minutes"
	@echo "make test-slow  the tests marked slow: hours; can be stopped and started again"
	@echo "make test-seeds every shipped scenario whose flights are long, with ten new seeds: hours"
	@echo "make soak       an hour of random scenarios, kills, crowds, hostile frames and damaged files: tried, held, broken"
	@echo "make bench      installs the peers of the benches, then checks our ratios to them: five minutes on two quiet cores"
	@echo "make gallery    the pictures of docs/gallery, and that of README"
	@echo "make docs       the site with the reference of every option, in site/; broken links and pages outside the menu are errors"
	@echo "make pages      update the numbers on the pages from docs/results, the page of the public API, and records for C++ and the cockpit"
	@echo "make lint       ruff, mypy and lint-imports only"
	@echo "make lock       take the newest versions pyproject.toml allows into requirements.lock"
	@echo "make release    wheels and sdists in dist/, tried in an empty environment"
	@echo "make clean      remove the environment and all caches; run folders stay"

# A checkout that was moved or copied must not use the environment of its old place.
ifneq ($(shell cat $(SET_UP) 2>/dev/null),$(CURDIR))
.PHONY: $(SET_UP)
endif

$(SET_UP): requirements.lock pyproject.toml clients/python/pyproject.toml papers/pyproject.toml $(wildcard plugins/*/pyproject.toml)
	@sh tools/set_up.sh "$(PYTHON)"

setup: $(SET_UP)

$(TORCH): $(SET_UP) requirements-torch.lock
	@sh tools/set_up_torch.sh

fly: setup
	@.venv/bin/skyloop record --world park --frames 100 --size 320x240

firmware:
	@$(MAKE) --no-print-directory -s -C plugins/skyloop-landing/firmware

# lint beside the tests: a sixth of their time is waiting
test: $(TORCH)
	@.venv/bin/python tools/system_packages.py flights tests
	@$(MAKE) --no-print-directory -j2 lint pytest

pytest: $(TORCH)
	@$(TEST_THREADS) .venv/bin/python -m pytest -q -n 3 --dist loadfile

# these wait for peers on sockets, or fly once for each option
LONG := links airsim beside options

check: lint
	@$(TEST_THREADS) .venv/bin/python -m pytest -q -n 2 --dist loadfile $(LONG:%=--ignore=tests/%) \
	    -m 'not slow and not renders and not processes and not flights'

# can be stopped and started again; `rm -r .pytest_cache/slow` restarts
test-slow: $(TORCH)
	@.venv/bin/python tools/system_packages.py flights tests "slow tests"
	@$(TEST_THREADS) .venv/bin/python -m pytest -q -n 2 --dist loadfile -m slow --continue-in=.pytest_cache/slow

test-seeds: $(TORCH)
	@$(TEST_THREADS) .venv/bin/python -m pytest -q -m seeds

# `.venv/bin/python tests/soak/soak.py kills --minutes 5 --seed 7` runs one part of it
soak: $(TORCH)
	@.venv/bin/python tests/soak/soak.py

gallery: setup
	@.venv/bin/python tools/gallery.py
	@.venv/bin/python tools/readme_picture.py

# --strict does nothing beside --quiet, which hides warnings from it
docs: setup
	@said=$$(NO_MKDOCS_2_WARNING=1 .venv/bin/python -m mkdocs build --strict 2>&1) || { echo "$$said"; exit 1; }
	@echo "site/index.html; to read it: .venv/bin/python -m http.server -d site -b 127.0.0.1 8000"

pages: setup
	@.venv/bin/python tools/refresh_pages.py
	@.venv/bin/python tools/record_types.py
	@.venv/bin/python tools/api_page.py

$(PEERS): $(SET_UP) requirements-bench.lock
	@sh tools/set_up_peers.sh

bench: $(TORCH) $(PEERS)
	@.venv/bin/skyloop bench all --check

lint: $(TORCH)
	@.venv/bin/python -m ruff check --quiet .
	@.venv/bin/python -m ruff format --check --quiet .
	@.venv/bin/python -m mypy --no-error-summary
	@said=$$(.venv/bin/python -c '$(LINT_IMPORTS)' --no-logo --no-cache) || { echo "$$said"; exit 1; }

lock:
	@sh tools/lock.sh "$(PYTHON)"

release: setup
	@.venv/bin/python tools/release.py

clean:
	@rm -rf .venv build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
