# Every target sets up what it needs: a virtual environment, the locked dependencies, an embedded PostgreSQL.
PYTHON ?= python3
VENV := .venv
RIVALS := .venv-bench
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEVELOPING := $(VENV)/.developing
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python # five times faster; pip where its index has no uv
HANGING := -o faulthandler_timeout=600 -o faulthandler_exit_on_timeout=true # a test that never ends: where it stands, and a failure
FAULTS := tests/deploy tests/run/backups tests/events tests/journeys tests/run/worker # where they are; looking through all tests takes long

unexport PYTHONDONTWRITEBYTECODE # each of the many processes of a run would compile 900 files of packages anew

LOCK := $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-emit-find-links --no-header --upgrade --quiet

.PHONY: install setup demo serve test ordinary costs drawn-faults quick compiled types check fix bench bench-long bench-rivals docs screenshots client release image faults nightly programs base lock clean

install: $(INSTALLED) ## what Afterword runs on

setup: $(DEVELOPING) ## what its tests and checks need beside that

$(INSTALLED): requirements-installer.lock requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Afterword needs Python 3.11 or newer; set PYTHON=…") if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes -r requirements-installer.lock && $(UV) --require-hashes -r requirements.lock \
	  || $(PIP) --require-hashes -r requirements.lock
	$(UV) --no-deps --no-build-isolation -e . || $(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(DEVELOPING): $(INSTALLED) requirements-dev.lock
	$(UV) --require-hashes -r requirements-dev.lock || $(PIP) --require-hashes -r requirements-dev.lock
	@touch $@

demo: install ## the whole journey on your machine; stays up until Ctrl-C
	$(BIN)/afterword demo

serve: install ## API, pages, worker and database in one process tree
	$(BIN)/afterword serve

programs: setup ## what tests run beside Python: Chromium, PHP
	@$(BIN)/python tests/programs.py

base: ## Debian's base of the container image, where root may make it; the next proof of an image takes it
	@$(PYTHON) tests/programs.py buildah mmdebstrap zstd
	@mkdir -p $(VENV)
	@$(PYTHON) -m release.images --write-base $(VENV)/base.tar

test: setup programs ## every test; the second half runs although the first one fails
	@$(MAKE) --no-print-directory --keep-going ordinary drawn-faults

DRAWN := --drawn
ordinary: setup programs ## the tests that may run side by side, some of the costly; real PostgreSQL, SMTP and Chromium
	$(BIN)/pytest -n auto --dist worksteal $(DRAWN) $(HANGING) -m "not faults and not nightly"

costs: ## all of them, and what each costs: the costly are drawn by it
	@$(MAKE) --no-print-directory --keep-going ordinary drawn-faults DRAWN=--write-costs

drawn-faults: setup ## the tests that kill processes and servers: those of every change, and some others
	$(BIN)/pytest $(FAULTS) -n 2 --maxschedchunk=1 $(DRAWN) $(HANGING) -m "faults and not nightly"

faults: setup ## all tests that kill processes and servers, alone; each prints its figure
	$(BIN)/pytest $(FAULTS) -m "faults and not nightly"

# Needs root, and buildah, podman, runc, netavark, aardvark-dns, iptables, systemd-container, prometheus, mmdebstrap, zstd, pgbouncer, iproute2, postgresql-15, util-linux (unshare, setpriv, mount), faketime and spin, and by apt patroni, etcd-server and haproxy: what is missing fails here.
nightly: setup programs ## every test at its full size, those that only run then, and the proof of a release: three hours or more
	export AFTERWORD_TEST_FAULTS=full; failed=0; \
	  $(BIN)/pytest -n auto --dist worksteal -m "not faults and not nightly" || failed=1; \
	  $(BIN)/pytest -m "faults or nightly" || failed=1; \
	  $(BIN)/python -m release || failed=1; \
	  exit $$failed

check: setup ## format, lint, import contracts, project rules, types, tests
	$(MAKE) --no-print-directory --jobs=2 quick types programs compiled
	@$(MAKE) --no-print-directory test

quick: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

compiled: setup # what all processes of a run would compile anew, each for itself
	@$(BIN)/python -m pytest --collect-only -qq > /dev/null || true # the run itself says so

types: setup
	$(BIN)/pyrefly check --summary=none

fix: setup ## format, and mend what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup ## speed against the ceiling measured in the same run; writes benchmarks/results.md
	$(BIN)/python -m benchmarks --record

bench-long: setup ## the parts that take minutes each: ten million rows, a million items, lateness beside a blast, the console
	$(BIN)/python -m benchmarks --record claims lateness million console

bench-rivals: ## beside other queues in PostgreSQL, which are installed apart from everything else
	test -x $(RIVALS)/bin/python || $(PYTHON) -m venv $(RIVALS)
	$(RIVALS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r benchmarks/requirements.lock
	$(RIVALS)/bin/python -m benchmarks --record rivals

docs: setup ## the documentation as a site, in site/, with its list for assistants, llms.txt
	$(BIN)/zensical build --clean --strict
	@$(BIN)/python -m release.documents site

screenshots: setup programs ## the pictures of the documentation, anew; in docs/images
	REWRITE_SNAPSHOTS=1 $(BIN)/pytest -q tests/browser/test_pictures.py

client: setup ## the generated half of both clients, anew from the OpenAPI document
	$(BIN)/python clients/python/generate.py
	$(BIN)/python -m clients.typescript.generate

release: setup ## wheels, source archives and their list of packages in dist/, proved where the repository is not
	$(BIN)/python -m release

image: release ## the container image of this machine's architecture on Debian's own base; needs buildah and zstd
	$(BIN)/python -m release.images

lock: setup ## resolve the dependencies again
	$(LOCK) --group installer --output-file requirements-installer.lock
	$(LOCK) pyproject.toml --group build --output-file requirements.lock
	$(LOCK) pyproject.toml --group dev --constraints requirements.lock --output-file requirements-dev.lock
	$(LOCK) pyproject.toml --extra mcp --extra otel --extra parquet --extra s3 --extra sftp --extra smpp --extra spss --constraints requirements-dev.lock --output-file requirements-extras.lock
	$(LOCK) --group release --output-file release/requirements.lock
	$(LOCK) --group deploy --output-file tests/deploy/requirements.lock
	$(LOCK) pyproject.toml --extra bench --constraints requirements.lock --output-file benchmarks/requirements.lock

clean: ## what was installed and built; the data folder stays
	rm -rf $(VENV) dist site .hypothesis .pytest_cache .ruff_cache
