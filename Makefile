# The way in: make setup, make demo, make test. Everything lives in .venv beside this file.

PYTHON ?= python3
WORKERS ?= 2
# Each worker uses one core; threads of the linear algebra would only wait for each other.
export OPENBLAS_NUM_THREADS ?= 1

VENV := .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.setup-done

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-long cover lint format bench docs clean

help:
	@echo "make setup      create .venv and install kalaba with its tools"
	@echo "make demo       set up and simulate two mobile arms that carry one load"
	@echo "make test       set up, check style and types, run the tests"
	@echo "make test-long  run the tests that take minutes"
	@echo "make cover      run the tests and report branch coverage"
	@echo "make lint       check style and types;  make format  mends the style"
	@echo "make bench      install the peers and print the comparison"
	@echo "make docs       build the documentation into build/site; a warning is an error"
	@echo "make clean      remove .venv and everything generated"

setup: $(SETUP)

$(SETUP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "kalaba needs Python 3.11 or newer; name one with: make setup PYTHON=python3.12" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev,docs]"
	@touch $@

demo: setup
	$(BIN)/kalaba run dual-mobile-arm -o dual-mobile-arm.nc --plot dual-mobile-arm.png

test: lint
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

test-long: setup
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m long

cover: setup
	$(BIN)/python -m pytest -n $(WORKERS) --cov --cov-report=term-missing

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	$(BIN)/python -m benchmarks

docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open build/site/index.html"

clean:
	rm -rf $(VENV) build dist htmlcov .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
