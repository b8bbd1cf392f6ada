# Everything sets itself up: the only thing a machine needs is Python 3.11 or newer, as python3 or as PYTHON=...
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready-

.PHONY: help demo test lint types tests coverage bench mutants clean

help:  ## show what there is to make
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 18

demo: $(READY)plot  ## see it work: a graph walked in numbers, a network trained, two pictures
	$(BIN)/python examples/demo.py

test: lint types tests  ## lint, types and every test

lint: $(READY)test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)test
	$(BIN)/mypy src benchmarks examples
	$(BIN)/mypy --allow-untyped-calls tests

tests: $(READY)test
	$(BIN)/python -m coverage run -m pytest
	$(BIN)/python -m coverage report

bench: $(READY)bench  ## measure speed and memory against peers: table, JSON and plot in out/bench
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/see.py

mutants: $(READY)mutants  ## break the source on purpose and see whether a test notices (takes long)
	$(BIN)/python tests/mutants.py

clean:  ## remove the virtual environment and everything made by running
	rm -rf $(VENV) out build dist .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "gradwalk needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# One mark for each extra, so that a target installs only what it needs, once.
$(READY)%: pyproject.toml | $(VENV)/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]'
	@touch $@
