# Two commands matter: `make up` runs the main job, `make test` passes the tests. Both set up all they need.

SHELL := /bin/bash
.DELETE_ON_ERROR:
.PHONY: help up test check lint types conformance system cover fuzz bench docs build lock lock-peers clean

VENV   := .venv
BIN    := $(VENV)/bin
LOCKED := $(VENV)/.locked
READY  := $(VENV)/.ready
# The first interpreter that is new enough; override with `make PYTHON=/path/to/python test`.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
# Debian keeps the headers of its own Python in a package to themselves; any other Python brings them along.
HEADERS = $(shell $(PYTHON) -c 'import sysconfig; home = sysconfig.get_path("include"); home.startswith("/usr/include/") \
	and print(f"{home}/Python.h=libpython{sysconfig.get_python_version()}-dev")')
FUZZ_EXAMPLES ?= 50000

help:
	@echo 'make up     run the main job on examples/'
	@echo 'make test   run every test'
	@echo 'make check  lint, types, generated files, conformance manifest'
	@echo 'make bench  print the table of ratios'
	@echo 'make docs   build the documentation into site/'
	@echo 'make fuzz   fuzz the parsers with a large budget (FUZZ_EXAMPLES=$(FUZZ_EXAMPLES))'
	@echo 'make lock   resolve the dependencies again into requirements/constraints.txt (lock-peers: of the peers)'

$(LOCKED): requirements/constraints.txt
	@[ -n "$(PYTHON)" ] || { echo 'Python 3.11 or newer is needed: install it, or run make PYTHON=/path/to/python' >&2; exit 1; }
	@echo 'Setting up $(VENV). The first time this takes a minute or two.'
	@$(PYTHON) -m venv $(VENV) || { echo 'python -m venv failed: on Debian, apt-get install python3-venv' >&2; exit 1; }
	@echo 'Installing the locked libraries'
	@$(BIN)/python tools/install.py --no-deps --require-hashes -r requirements/constraints.txt
	@touch $@

# The C extension is optional (hatch_build.py). It is built apart from the rest, since pip hides what the compiler says.
$(READY): $(LOCKED) pyproject.toml hatch_build.py $(wildcard a2c_smcp/documents/pdf/c/*)
	@echo 'Installing this checkout'
	@HATCH_BUILD_NO_HOOKS=1 $(BIN)/python tools/install.py --no-deps --no-build-isolation --editable .
	@[ -n "$$A2C_PURE_PYTHON" ] || tools/system 'cc=gcc libc6-dev' $(HEADERS)
	@echo 'Building the C extension (optional)'
	@$(BIN)/python -m hatchling build -t wheel:editable --hooks-only -d $(VENV)
	@touch $@

up: $(READY)
	$(BIN)/a2c up examples/

test: check system
	$(BIN)/python -m pytest -n auto -q --dist loadfile

# What the tests drive beside Python; installed where this machine lets us.
system:
	@tools/system redis-server=redis-server node=nodejs npm=npm openssl=openssl chromium=chromium nginx=nginx-light

check: lint types conformance
	$(BIN)/python tools/gen_sync.py --check
	$(BIN)/python tools/export_schemas.py --check
	$(BIN)/python tools/reference.py --check
	$(BIN)/python tools/dependencies.py --check --audit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

conformance: $(READY)
	$(BIN)/python tools/conformance.py --check

cover: $(READY) system
	$(BIN)/python -m pytest -n auto -q --cov --cov-report=term-missing:skip-covered

fuzz: $(READY)
	A2C_FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) $(BIN)/python -m pytest -q -n auto --timeout=0 tests/fuzz

bench: $(READY) system
	$(BIN)/python -m benchmarks

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

build: $(READY)
	$(BIN)/python -m hatchling build

COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	--no-emit-index-url --no-emit-find-links

lock: $(READY)
	$(COMPILE) --group dev --extra all pyproject.toml -o requirements/constraints.txt

# Every release of the published SDK. Some of them do not start on what their own metadata asks for today.
RELEASES := 0.1.2 0.1.3 0.1.5 0.1.6 0.2.1 0.2.2 0.3.0 0.3.1 0.3.2 0.3.3 0.4.0 0.4.1 0.4.2

lock-peers: $(READY)
	for v in $(RELEASES); do \
		case $$v in 0.1.[235]) more='pydantic<2.12' ;; 0.2.* | 0.3.* | 0.4.0) more=pyyaml ;; *) more= ;; esac; \
		printf 'a2c-smcp[cli]==%s\n%s\n' $$v "$$more" | $(COMPILE) - -o requirements/peers/a2c-smcp-$$v.txt; \
	done
	printf 'kreuzberg\nliteparse\nmarkitdown[pdf]\n' | $(COMPILE) - -o requirements/peers/documents.txt
	cd requirements/peers && npm install --package-lock-only --no-audit --no-fund
	cd requirements/peers && node -e 'const fs = require("fs"), f = "package-lock.json", d = JSON.parse(fs.readFileSync(f)); for (const p of Object.values(d.packages)) { delete p.funding; delete p.resolved } fs.writeFileSync(f, JSON.stringify(d, null, 2) + "\n")'

clean:
	rm -rf $(VENV) build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
	rm -f a2c_smcp/documents/pdf/*.so
