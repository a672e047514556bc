# Every command here does all of its own set-up, in .venv: Python 3.11 to 3.13 and a package index are enough.

VENV   ?= .venv
PYTHON ?= python3 python3.13 python3.12 python3.11
JOBS   ?= 2
TESTS  ?= tests

BIN := $(VENV)/bin

# What may depend on the version of Python or of an engine: algebra, importers, adapters, checks, commands.
core := $(foreach name,reference spatial tree states checks compare models cli results urdf_importer mjcf_importer \
    pinocchio_adapter mujoco_adapter exporters imports,tests/test_$(name).py)

# What needs optional engines: their adapters, what they answer to the cases beside the checkout and to minimal and hostile
# files, and whether they keep the contract.
engines := $(foreach name,drake idyntree dart pybullet adam mjx newton urdfpy,tests/test_$(name)_adapter.py) \
    $(foreach name,adapter_parts dart_native drake_native engine_hostile engine_table explain_engines selftest \
    shared_cases surprises textbook_constrained_drake,tests/test_$(name).py)

# Whether an interpreter will do; Debian splits ensurepip off into python3-venv.
fits := import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))

# What .venv says of itself: the folder it was made in (its scripts hold that path) and the interpreter, if one was asked
# for. Moved, broken or half-made, it is made anew.
mark  := [$(CURDIR)]$(if $(filter file,$(origin PYTHON)),, with $(PYTHON))
sound := $(shell test ! -e $(VENV)/installing && $(BIN)/python -c "" > /dev/null 2>&1 && grep -Fs "$(mark)" $(VENV)/made)

# Some machines set it, which triples the time of every import.
unexport PYTHONDONTWRITEBYTECODE

.NOTPARALLEL:
.PHONY: help demo test quick core engines engine-tests lint oldest bench docs figures clean anew

help:
	@echo "make demo     check the bundled arm in Pinocchio and MuJoCo"
	@echo "make test     run the whole test suite"
	@echo "make quick    run it without the slow tests"
	@echo "make lint     ruff and basedpyright"
	@echo "make core     run what may depend on versions: algebra, importers, adapters, checks, commands"
	@echo "make oldest   run that with the oldest versions that pyproject.toml allows"
	@echo "make engines  install every engine that there is for this Python, and test their adapters"
	@echo "make bench    measure against the plain engines"
	@echo "make docs     build the documentation site, build/site/index.html"
	@echo "make figures  draw the figures of the lessons again, docs/figures"
	@echo "make clean    remove what these commands made"
	@echo
	@echo "PYTHON=...    the interpreter to use, 3.11 to 3.13"

demo: $(VENV)/ready
	$(BIN)/tautology check models/tau_arm.urdf --engine pinocchio --engine mujoco

test: $(VENV)/ready-test
	$(BIN)/python -m pytest -n $(JOBS) $(TESTS)

quick: $(VENV)/ready-test
	$(BIN)/python -m pytest -n $(JOBS) -m "not slow" $(TESTS)

core: $(VENV)/ready-test
	$(BIN)/python -m pytest -n $(JOBS) $(core)

engines: $(VENV)/made
	$(MAKE) engine-tests VENV=$(VENV)/engines

engine-tests: $(VENV)/ready-all
	$(BIN)/python .ci/engines.py
	$(BIN)/python -m pytest -n $(JOBS) -m "not slow" $(engines)

lint: $(VENV)/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	$(BIN)/pre-commit validate-config

oldest: $(VENV)/made
	$(BIN)/python .ci/lower_bounds.py > $(VENV)/oldest.txt
	$(MAKE) core VENV=$(VENV)/oldest CONSTRAINTS=$(VENV)/oldest.txt

bench: $(VENV)/ready-test
	$(BIN)/python benchmarks/reference_speed.py
	$(BIN)/python benchmarks/check_speed.py

# MkDocs builds what generate.py wrote; its theme would print an advertisement of its successor.
docs: $(VENV)/ready-docs
	$(BIN)/python docs/generate.py build/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --config-file build/docs/mkdocs.yml
	@echo "build/site/index.html"

figures: $(VENV)/ready-docs
	$(BIN)/python docs/figures.py

clean:
	@test ! -e $(VENV) || test -e $(VENV)/pyvenv.cfg || { echo "$(VENV) is no virtual environment: not removed" >&2; exit 1; }
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .hypothesis .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/ready:      extras =
$(VENV)/ready-test: extras = [test]
$(VENV)/ready-dev:  extras = [test,dev]
$(VENV)/ready-all:  extras = [test,all]
$(VENV)/ready-docs: extras = [docs]

# `installing` stays behind when the installation is interrupted: then no one knows what .venv holds.
$(VENV)/ready $(VENV)/ready-test $(VENV)/ready-dev $(VENV)/ready-all $(VENV)/ready-docs: $(VENV)/made pyproject.toml
	@echo "Installing tautology$(extras) into $(VENV): a minute the first time."
	@touch $(VENV)/installing
	@$(BIN)/python -m pip install -qq --editable ".$(extras)" $(if $(CONSTRAINTS),--constraint $(CONSTRAINTS)) || { \
	    rm -f $(VENV)/installing; \
	    echo "The installation failed; pip says why above. It needs a package index (pip config list)." >&2; \
	    exit 1; }
	@$(BIN)/python -m compileall -q __init__.py __main__.py adapters harness models reports
	@rm $(VENV)/installing
	@touch $@

$(VENV)/made: $(if $(sound),,anew)
	@test ! -e $(VENV) || test -e $(VENV)/pyvenv.cfg || { \
	    echo "$(VENV) is there already and is no virtual environment: set VENV to another folder." >&2; exit 1; }
	@for python in $(PYTHON); do \
	    if $$python -c "$(fits)" 2>/dev/null; then rm -rf $(VENV); break; fi; \
	    tried="$$tried  $$python: $$($$python --version 2>&1 | head -n 1)\n"; python=; \
	done; \
	if [ -z "$$python" ]; then \
	    printf "No Python 3.11 to 3.13 with venv and pip. Tried:\n$$tried" >&2; \
	    echo "Install one (Debian: apt install python3 python3-venv), or name it: make PYTHON=/path/to/python3.12 ..." >&2; \
	    exit 1; \
	fi; \
	echo "Making $(VENV) with $$($$python --version)."; \
	$$python -m venv $(VENV)
	@echo "$(mark)" > $@
