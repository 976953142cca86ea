# Everything is done in .venv, which the targets make and keep up to date themselves.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

# What the wheel ships: the links of src/howdah, which bear the names of the real folders.
SHIPPED := $(notdir $(wildcard src/howdah/*))

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The tests start hundreds of programs: each would compile our modules anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-console test-seeds test-all test-rest test-versions chaos check lint format sync docs docs-serve screenshots baseline schema bench bench-full bench-compare wheel clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.demo ## Run 80,789 real flights through the queue, kill a worker, and prove that nothing is lost
	$(BIN)/howdah demo

# Worksteal leaves a folder's tests with one process, so that Spark starts once.
PYTEST := $(BIN)/pytest -q -n 3 --dist worksteal

test: $(VENV)/.collected ## Run the tests on PostgreSQL 18: nearly every promise once, fixed seeds (six minutes on two cores)
	$(PYTEST) -m 'not slow'

# Two processes compile the tests, each a half, before three collect them all.
$(VENV)/.collected: $(VENV)/.dev
	@for half in tests/procedures --ignore=tests/procedures; do $(BIN)/pytest -qq --collect-only $$half >/dev/null & done; wait
	@touch $@

# On each other version that is here, every test with its first case.
OTHERS := 16 $(patsubst /usr/lib/postgresql/%/bin/postgres,%,$(wildcard /usr/lib/postgresql/1[457]/bin/postgres))
VERSIONED := tests/procedures tests/migrations tests/server

test-console: $(VENV)/.dev ## Run the slow tests of the console, most of them in chromium (two minutes)
	$(BIN)/pytest -q -n 2 --dist loadgroup -m slow tests/console

test-all: test test-rest ## Run all tests, on PostgreSQL 16 and what Debian has installed too (an hour or more)

test-seeds: $(VENV)/.dev ## Run the random schedules, models and calls with more of the fixed seeds (two minutes)
	HOWDAH_TEST_SCHEDULES=500 HOWDAH_TEST_MODELS=16 HOWDAH_TEST_FUZZ=4000 $(PYTEST) tests/procedures/test_schedules.py \
	  tests/procedures/test_topic_schedules.py tests/procedures/test_jms_model.py tests/procedures/test_fuzz.py

# What make test left out.
test-rest: FIRST := 1
test-rest: test-seeds
	HOWDAH_TEST_FUZZ=4000 $(BIN)/pytest -q -n 2 --dist loadgroup -m slow
	@$(ON_OTHERS)

test-versions: $(VENV)/.dev ## Run every quick test of the database on each other version of PostgreSQL that is here
	@$(ON_OTHERS)

define ON_OTHERS
for version in $(OTHERS); do \
  echo "PostgreSQL $$version: procedures, migrations, restarts"; \
  HOWDAH_TEST_FIRST=$(FIRST) HOWDAH_TEST_SCHEDULES=20 HOWDAH_TEST_PG=$$version $(PYTEST) -m 'not slow' $(VERSIONED) || exit; \
done
endef

# Every round and schedule has its own seed; the failing one prints the command that repeats it.
SCHEDULES ?= 10000
CRASHES ?= 100
KILLS ?= 2000
MODELS ?= 500
CALLS ?= 100000
SCHEMAS ?= 5000
ROUNDS ?= 10
chaos: export HOWDAH_TEST_SEED := new
chaos: export PYTEST_TIMEOUT := 0
chaos: $(VENV)/.dev ## Random schedules, crashes and kills in their thousands, with new seeds (SCHEDULES, MODELS, CALLS, SCHEMAS, CRASHES, KILLS, ROUNDS; 80 minutes)
	HOWDAH_TEST_SCHEDULES=$(SCHEDULES) HOWDAH_TEST_CRASHES=$(CRASHES) \
	  $(BIN)/pytest -q -s tests/procedures/test_schedules.py tests/server/test_crashes.py \
	  tests/procedures/test_topic_schedules.py tests/server/test_topic_crashes.py \
	  tests/procedures/test_hardened_schedules.py tests/procedures/test_links_random.py \
	  tests/server/test_level_schedules.py
	HOWDAH_TEST_LINKED=70000 $(BIN)/pytest -q -s tests/server/test_link_crashes.py
	HOWDAH_TEST_KILLS=$(KILLS) $(BIN)/pytest -q -s tests/server/test_level_crashes.py -k right_after
	HOWDAH_TEST_FUZZ=$(CALLS) $(BIN)/pytest -q -s tests/procedures/test_fuzz.py
	HOWDAH_TEST_SCHEMAS=$(SCHEMAS) $(BIN)/pytest -q -s tests/procedures/test_contracts_model.py
	HOWDAH_TEST_MODELS=$(MODELS) $(BIN)/pytest -q -s tests/procedures/test_jms_model.py
	HOWDAH_TEST_STRESS=20 $(BIN)/pytest -q -s tests/procedures/test_topic_stress.py
	@for round in $$(seq $(ROUNDS)); do \
	  echo "Workers under load, round $$round of $(ROUNDS)"; \
	  $(BIN)/pytest -q tests/workers/test_load.py tests/server/test_restart.py || exit; \
	done

check: lint test ## Format, lint, layers, types, tests: all that must pass before a commit

lint: $(VENV)/.dev ## Check format, lint, layers and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/mypy tests

format: $(VENV)/.dev ## Put the code in its format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

sync: $(VENV)/.dev ## Write the synchronous engine from engine/aio (tools/make_sync.py says which files)
	$(BIN)/python tools/make_sync.py

docs: $(VENV)/.dev ## Write docs/conformance from catalogue and marks, and build the site in build/site, strictly
	$(BIN)/python tools/conformance.py
	$(BIN)/python tools/docsite.py

docs-serve: $(VENV)/.dev ## Show the site while you write: build/docs is laid once, run it again after a change
	$(BIN)/python tools/docsite.py --serve

screenshots: $(VENV)/.dev ## Draw the console's pictures in docs/pictures, with Debian's chromium
	$(BIN)/python tools/screenshots.py

baseline: $(VENV)/.dev ## Render the tables in schema/ into the baseline migration, until it is released
	$(BIN)/python tools/baseline.py

schema: $(VENV)/.dev ## Write tests/schema.sql: all that is installed, as dumped on PostgreSQL 18
	$(BIN)/python tools/installed_schema.py

# Peers are installed in build/bench-peers, never in .venv.
BENCH := $(BIN)/howdah bench --peers build/bench-peers

bench: $(VENV)/.dev ## Measure speed in a few minutes (six with all peers): build/bench.json and build/bench.html
	$(BENCH) --quick --json build/bench.json --page build/bench.html

bench-full: $(VENV)/.dev ## Measure everything at full size, two hours and more with the peers: build/bench.json, its page, docs/measurements.toml
	$(BENCH) --full --json build/bench.json --page build/bench.html
	$(BIN)/python tools/measured.py build/bench.json

# NEW is a record kept before; by default that of the last make bench.
NEW ?= build/bench.json
bench-compare: $(VENV)/.dev ## Say what became slower than in OLD=FILE.json; fails if anything did
	@test -n "$(OLD)" || { echo >&2 'Which record? make bench-compare OLD=before.json (a record kept of make bench)'; exit 2; }
	@test -f "$(NEW)" || { echo >&2 '$(NEW) is missing: make bench'; exit 2; }
	$(BIN)/howdah bench --record $(NEW) --against $(OLD)

# An editable install hides a file that a wheel would lose, and a linked folder ships scratch
# files too: so the wheel's list of files must be git's. build/ is removed first, since
# setuptools would ship what an earlier build left there.
wheel: $(VENV)/.dev ## Build the wheel in dist/ and compare its files with git's
	rm -rf build dist
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir dist .
	$(BIN)/python -m zipfile -l dist/*.whl | sed -n 's|^howdah/\([^ ]*\) .*|\1|p' | LC_ALL=C sort > build/in-wheel
	git ls-files $(SHIPPED) | LC_ALL=C sort > build/in-git
	diff build/in-git build/in-wheel
	@ls dist/*.whl

clean: ## Remove what was built, .venv included
	rm -rf $(VENV) build dist .cache .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	rm -rf src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One environment for all targets; a stamp tells which extra it holds, and since when.
$(VENV)/.dev $(VENV)/.demo: $(VENV)/.%: pyproject.toml | $(BIN)/pip
	@echo 'Installing Howdah and what it needs into $(VENV): once, some minutes with a slow network.'
	$(BIN)/pip install --quiet --editable '.[$*]'
	@touch $@

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo >&2 'Howdah needs Python 3.11 or later: make PYTHON=python3.12 …'; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo >&2 "$(PYTHON) cannot make virtual environments. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
