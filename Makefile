# Each target first makes what it needs: `make demo` and `make test` work in a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export OMP_NUM_THREADS ?= 1
# If PIP_FIND_LINKS names a folder of wheels (for example a CPU build of torch), uv uses this folder, too.
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)
# Python stores compiled modules, even if the environment variable PYTHONDONTWRITEBYTECODE is set: without compiled modules
# each process of the tests takes more than twice the time to start.
unexport PYTHONDONTWRITEBYTECODE

PLUGINS := $(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml plugins/*/*/pyproject.toml))
# Craftax asks for pygame, for its program for people. The tests have pygame-ce, which has the same files.
OVERRIDES := overrides.txt plugins/craftax/overrides.txt
MANIFESTS := pyproject.toml $(OVERRIDES) constraints.txt $(addsuffix /pyproject.toml,core $(PLUGINS))
GUEST := core/rlgpt/sandbox/guest.wasm
GUEST_SOURCES := $(addprefix core/rlgpt/sandbox/,build.py link.py snapshot.py) $(shell find core/rlgpt/sandbox/guest -name '*.py' -o -name '*.wit' 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help setup lock guest minedojo metaworld demo test test-full types style examples check docs bench wheels clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(VENV)/.installed $(GUEST) ## make the Python environment in .venv, and the sandbox's guest

$(VENV)/.installed: $(MANIFESTS)
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if (3, 11) <= v < (3, 14) else \
	  f"Python {v.major}.{v.minor} is too old or too new: 3.11 to 3.13 work. Name one: make PYTHON=python3.11 ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python $(addprefix --overrides ,$(OVERRIDES)) --constraint constraints.txt \
	  --group dev -e 'core[sample-factory,sweeps,ray,tensorboard,wandb,mlflow,view]' $(addprefix -e ,$(PLUGINS))
	@touch $@

# Folders of wheels are not searched here, because the version of a local build (2.13.0+cpu) exists nowhere else.
lock: ## choose the newest versions that fit the manifests, and write them to constraints.txt
	@test -x $(BIN)/uv || { $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet uv; }
	@echo '# The exact versions that `make setup` installs, for every system. Written by `make lock`.' > constraints.new
	UV_FIND_LINKS= $(BIN)/uv pip compile --quiet --universal --upgrade --python-version 3.11 $(addprefix --overrides ,$(OVERRIDES)) --group dev \
	  --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
	  core/pyproject.toml --all-extras $(addsuffix /pyproject.toml,$(PLUGINS)) >> constraints.new
	@sed -i.bak '/^-e /d' constraints.new && rm constraints.new.bak && mv constraints.new constraints.txt

guest: $(GUEST) ## build the sandbox's guest (CPython as WebAssembly)

$(GUEST): $(VENV)/.installed $(GUEST_SOURCES)
	$(BIN)/python -m rlgpt.sandbox.build
	@touch $@

minedojo: .minedojo/.installed ## install MineDojo in a separate Python environment in .minedojo

.minedojo/.installed: plugins/minecraft/minedojo.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if (3, 9) <= v < (3, 12) else \
	  f"MineDojo builds with Python 3.9 to 3.11, not {v.major}.{v.minor}. Name one: make minedojo PYTHON=python3.11")'
	$(PYTHON) -m venv --clear .minedojo
	.minedojo/bin/python -m pip install --quiet 'pip<24.1' setuptools==65.5.0 wheel==0.38.4
	.minedojo/bin/python -m pip install --quiet --no-build-isolation -r $<
	@touch $@

METAWORLD := core/rlgpt/envs/metaworld/requirements.txt

metaworld: .metaworld/.installed ## install Meta-World in a separate Python environment in .metaworld

.metaworld/.installed: $(METAWORLD)
	$(PYTHON) -m venv --clear .metaworld
	.metaworld/bin/python -m pip install --quiet -r $<
	@touch $@

DEMO_RUNS := runs/demo/$(shell date +%Y-%m-%d-%H%M%S)

# Exit status 3 means that a run ended early without an error, for example at the end of its recording. Its figures are
# valid.
demo: setup ## compare RL-GPT, pure code and pure RL on the task of experiment=milk, two seeds each; no key needed
	$(BIN)/rlgpt train -m -j 2 experiment=milk agents=slow_fast_critic,rl_only,code_only \
	  'seed=range(2)' hydra.sweep.dir=$(DEMO_RUNS) || test $$? -eq 3
	$(BIN)/rlgpt report $(DEMO_RUNS)

bench: setup ## measure the overhead and the sandbox (30 minutes)
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/sandbox.py

# With worksteal, neighbouring tests run in the same process: most fixtures and imports are made once, not in each process.
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

test: setup ## run the tests, without the slow ones
	$(PYTEST) -m "not slow" $(PYTEST_FLAGS)

test-full: setup ## run all tests
	$(PYTEST) --hypothesis-profile=full

PACKAGES = $(patsubst %/,%,$(dir $(wildcard core/*/py.typed $(addsuffix /*/py.typed,$(PLUGINS)))))

types: setup ## check the types, with mypy --strict
	$(BIN)/mypy $(PACKAGES) core/hydra_plugins

style: setup ## check style and the import order of the rooms
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/rooms.py

examples: setup ## check the examples in the documents, and build the documentation site
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/docs

check: style types examples ## check style, types, the import order of the rooms, and the documents

docs: setup ## build the documentation site, in site/
	$(BIN)/mkdocs build --strict

wheels: setup ## build a wheel of each distribution, in dist/
	for d in core $(PLUGINS); do \
	  $(BIN)/uv build --quiet --wheel --out-dir dist $$d || exit 1; done

clean: ## remove everything that was built here; runs are kept
	rm -rf $(VENV) .minedojo .metaworld $(GUEST) dist site build .mypy_cache .ruff_cache .pytest_cache
