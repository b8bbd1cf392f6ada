# Everything sets itself up: the only thing a machine needs is Python 3.11 or newer, as python3 or as PYTHON=...
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready-
MINUTES ?= 60
# One process more than cores (conftest.py), but not so many that each starts a browser on a large machine.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal
# What one can do without while writing Python, for the sake of an answer within a minute.
WAIT := tests/web tests/compile src/gradwalk/compile tests/test_stepper.py tests/test_plot.py \
  tests/test_plot_functions.py tests/test_plot_histograms.py tests/test_versions.py tests/test_cli_step.py \
  tests/learn tests/test_check_suspects.py src/gradwalk/diagnose src/gradwalk/learn tests/test_learn_relief.py tests/test_spy.py tests/notebook
# Two targets at once, each with its output in one piece, where make can do that (macOS has one that cannot).
TOGETHER := $(MAKE) --no-print-directory -j2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

.PHONY: help demo learn site recorded ops test quick coverage lint types course course-dev screenshots tests bench serving soak lowest fuzz mutants clean

help:  ## show what there is to make
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

demo: $(READY)plot  ## see it work: a graph walked in numbers, a network trained, two pictures
	$(BIN)/python examples/demo.py

learn: site  ## open the course in your browser
	$(BIN)/gradwalk learn

site: $(VENV)/.ready  ## build the course, if something in it changed
	@$(BIN)/python web/build_site.py --fetch-node

recorded: $(READY)test  ## run again what lessons 12 and 13 show as recorded: PyTorch, and the compiler
	$(BIN)/python web/recorded/against_torch.py
	$(BIN)/python web/recorded/rolled.py

ops: $(VENV)/.ready  ## write what follows from the op table: methods, exports, docs/ops.md
	$(BIN)/python docs/make_ops.py

test: $(READY)test site  ## lint, types and every test: browser, notebooks and compiled code too
	@$(TOGETHER) lint types course
	@$(MAKE) --no-print-directory tests

quick: $(READY)test  ## the tests that need no browser, notebook or compiled code, within a minute
	$(PYTEST) -m "not browser and not notebook and not native and not slow" $(WAIT:%=--ignore=%)

coverage: $(READY)test site  ## every test, and which lines and branches of the source none of them reaches
	$(BIN)/python tests/chromium.py
	$(PYTEST) --cov

lint: $(READY)test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)test
	$(BIN)/mypy

course: site
	$(BIN)/python web/build_site.py --npm run check
	$(BIN)/python web/build_site.py --npm test

course-dev: $(READY)test  ## write the course: it is built and reloaded at every change, and its numbers checked
	@$(BIN)/python web/build_site.py --fetch-node
	$(BIN)/python web/course_dev.py

screenshots: $(READY)test site  ## pictures of every page of the course, phone to large screen, light and dark: out/screenshots
	$(BIN)/python tests/screenshots.py

tests: $(READY)test site
	$(BIN)/python tests/chromium.py
	$(PYTEST)

bench: $(READY)bench  ## measure speed and memory against peers: table, JSON and plot in out/bench
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/see.py
	$(BIN)/python benchmarks/doctor.py
	$(BIN)/python benchmarks/compiled.py
	$(BIN)/python benchmarks/tensors.py

serving: $(VENV)/.ready site  ## load the course's server: a thousand browsers at once
	$(BIN)/python benchmarks/serving.py

soak: $(READY)test site  ## an hour of mixed use: memory stays flat, nothing is left behind (MINUTES=10 for less)
	$(BIN)/python benchmarks/soak.py --minutes $(MINUTES)

lowest: $(VENV)/.made  ## the quick tests with the lowest version of everything that pyproject.toml allows
	$(BIN)/python tests/lowest.py

fuzz: $(READY)test  ## compare compiled functions with eager ones, and tensors with PyTorch, on random programs
	$(BIN)/python tests/compile/fuzz.py --seconds 300
	$(BIN)/python tests/compile/contract/programs.py --seconds 300
	$(BIN)/python tests/compile/contract/scripts.py --seconds 60
	$(BIN)/python tests/tensor_fuzz.py --seconds 180

mutants: $(READY)mutants  ## break the source on purpose and see whether a test notices (takes long)
	$(BIN)/python tests/mutants.py

clean:  ## remove the virtual environment and everything made by running
	rm -rf $(VENV) out build dist src/gradwalk/learn/site src/gradwalk/notebook/built web/node_modules web/generated .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "gradwalk needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.ready: pyproject.toml | $(VENV)/.made
	GRADWALK_SITE=skip $(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

# One mark for each extra, so that a target installs only what it needs, once.
$(READY)%: pyproject.toml | $(VENV)/.made
	GRADWALK_SITE=skip $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]'
	@touch $@
