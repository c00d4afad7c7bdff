# `make demo` and `make test` set everything up by themselves, in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What the demonstration needs, and what all checks need: the second holds torch, which is large.
LIGHT := $(VENV)/.light
READY := $(VENV)/.ready

.PHONY: demo test setup lint types layers tests docs reproduce benchmark clean

demo: $(LIGHT)
	$(BIN)/xorder demo --out xorder-demo --force

test: setup lint types layers tests docs

setup: $(READY)

# Installed again whenever pyproject.toml changes; the source itself is linked, not copied.
$(LIGHT): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "xorder needs Python 3.11 or newer; name one with: make PYTHON=python3.12")'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable '.[plot,parquet,report]'
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

# One worker a core, and each file in one of them, as what its tests share may take a minute to make; threads of numerical
# libraries on top of that only wait for each other.
tests: setup
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --dist loadfile

# Strict: a warning is an error; then every link, and that nothing is loaded from elsewhere.
docs: setup
	rm -rf docs/_build
	OMP_NUM_THREADS=1 $(BIN)/sphinx-build -q -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html

# Every table and figure of the paper, on the open data; about an hour on two cores. It goes on where it stopped.
reproduce: setup
	$(BIN)/python -m experiments run
	$(BIN)/python -m experiments run --splits random --dataset german framingham --metric xauc --method unadjusted post-logit xorder-dp xorder-frontier fair-ranker
	$(BIN)/python -m experiments timing
	$(BIN)/python -m experiments distributions
	$(BIN)/python -m experiments pack
	$(BIN)/python -m experiments tables
	$(BIN)/python -m experiments figures

benchmark: setup
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

clean:
	rm -rf $(VENV) xorder-demo dist docs/_build
