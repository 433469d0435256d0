# From Kernel to Network: the whole of the book's machinery.
#   make book     build the site            make lab      open the chapters in JupyterLab
#   make test     run the tests             make record   re-run stale chapters on a GPU
#   make test-all run every test            make clean    remove what was made
#   make check CHAPTER=35   what one chapter must pass, in a minute
#   make constraints        take the newest versions

PYTHON ?= python3
RUN := .venv/bin/python -m
# The versions that are tested; `make CONSTRAINTS= test` takes the newest of everything.
CONSTRAINTS ?= --constraint constraints.txt
INSTALL := $(RUN) pip install --quiet --no-compile $(CONSTRAINTS)

.PHONY: book sites test test-all check lab record constraints clean
.DEFAULT_GOAL := book

book: .venv/installed
	$(RUN) helpers.press.site

# And beside it, on another core, a copy as a fork publishes it: the site's tests read both.
sites: .venv/installed
	$(RUN) helpers.press.site --both

# The parts of the tests, cheap ones first, and a table of them at the end: tests/parts.py.
test: .venv/installed-test
	.venv/bin/python tests/parts.py

test-all: .venv/installed-test
	.venv/bin/python tests/parts.py --all

check: .venv/installed-test
	@.venv/bin/python tests/parts.py --chapter "$(CHAPTER)"

lab: .venv/installed
	$(RUN) jupyterlab notebooks

record: .venv/installed
	$(RUN) helpers.press.record

# For Python 3.11 and all that are newer, on every system.
constraints:
	$(PYTHON) -m venv _build/uv
	_build/uv/bin/python -m pip install --quiet --upgrade uv
	_build/uv/bin/uv pip compile --quiet --no-config --upgrade --universal --python-version 3.11 \
	    --extra engines --extra test --no-annotate --no-emit-package from-kernel-to-network \
	    --custom-compile-command "make constraints" --output-file constraints.txt \
	    requirements.txt pyproject.toml

clean:
	rm -rf .venv _build book/generated

# Stamp files: a second `make` installs nothing. The stand-in compiles kernels; where there is no C++
# compiler, the ziglang wheel is one.
.venv/installed: requirements.txt pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "The book needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.13"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	    { echo "$(PYTHON) cannot make a virtual environment. On Debian or Ubuntu: sudo apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv .venv
	$(INSTALL) --requirement requirements.txt
	command -v $${CXX:-g++} >/dev/null || command -v clang++ >/dev/null || $(INSTALL) ziglang
	touch $@

# Of the oldest CuPy that is promised the tests read the headers and the names: it is not installed.
.venv/installed-test: .venv/installed
	$(INSTALL) --editable '.[test]'
	.venv/bin/python tests/cupy_oldest.py >/dev/null
	touch $@
