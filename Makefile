# `make demo` and `make test` set everything up by themselves, in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What the demonstration needs, and what all checks need: the second holds torch, which is large.
LIGHT := $(VENV)/.light
READY := $(VENV)/.ready

.PHONY: demo test setup lint types layers tests benchmark clean

demo: $(LIGHT)
	$(BIN)/xorder demo --out xorder-demo --force

test: setup lint types layers tests

setup: $(READY)

# Installed again whenever pyproject.toml changes; the source itself is linked, not copied.
$(LIGHT): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "xorder needs Python 3.11 or newer; name one with: make PYTHON=python3.12")'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable '.[plot,parquet]'
	touch $@

$(READY): $(LIGHT)
	$(BIN)/python -m pip install --quiet --editable '.[all]' --group dev
	touch $@

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

layers: setup
	$(BIN)/lint-imports

# One worker a core; threads of numerical libraries on top of that only wait for each other.
tests: setup
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto

benchmark: setup
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

clean:
	rm -rf $(VENV) xorder-demo dist
