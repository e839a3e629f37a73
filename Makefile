# Two commands do everything: `make run` starts a conversation, `make test` checks the house.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: run test check gen bench pictures clean

run: $(VENV)/.run
	@$(BIN)/caddie chat

test: check
	$(BIN)/python -m pytest

check: $(VENV)/.test
	$(BIN)/ruff format --check server tests
	$(BIN)/ruff check server tests
	$(BIN)/mypy
	$(BIN)/python -m caddie.protocol.export --check

gen: $(VENV)/.test
	$(BIN)/python -m caddie.protocol.export

pictures: $(VENV)/.test
	$(BIN)/python docs/pictures/make.py

bench: $(VENV)/.bench
	@$(BIN)/python tests/bench/bench.py $(BENCH)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Setting up Caddie in $(VENV) (once; about a minute) ..."
	@$(PIP) -e .
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Setting up Caddie and its tests in $(VENV) (once; about two minutes) ..."
	@$(PIP) -e '.[dev]'
	@touch $(VENV)/.run $@

$(VENV)/.bench: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Setting up Caddie and the searchers it is measured beside in $(VENV) (once; about a minute) ..."
	@$(PIP) -e '.[bench,semantic]'
	@touch $(VENV)/.run $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
