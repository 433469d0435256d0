# From Kernel to Network: the whole of the book's machinery.
#   make book     build the site            make lab      open the chapters in JupyterLab
#   make test     run every test            make record   re-run stale chapters on a GPU
#   make clean    remove what was made

PYTHON ?= python3
RUN := .venv/bin/python -m
PYTEST := $(RUN) pytest -q
# Each test file stays in one process; NumPy's own threads would only get in each other's way.
PARALLEL := OPENBLAS_NUM_THREADS=1 $(PYTEST) -n auto --maxprocesses 4 --dist loadfile

# What a compiler may see otherwise than another: these are run with a second one, ziglang.
KERNEL_TESTS := $(patsubst %,tests/standin/test_%.py,rawkernel elementwise reduction carray fences \
    compiler translate fibers active_lanes local_memory float_casts half ptx wmma async_copy mathematics)

.PHONY: book test lab record clean
.DEFAULT_GOAL := book

book: .venv/installed
	$(RUN) helpers.press.pages book/generated
	.venv/bin/jupyter-book build . --all -W --keep-going -q
	@echo "The site: file://$(CURDIR)/_build/html/index.html"

# Cheap first: what is quick to find is found in seconds. The browser tests read the built site.
# CuPy's own tests warn, and hundreds fail for listed reasons: only other failures are shown. This
# is the quick part of them; `pytest tests/conformance --whole` runs all.
test: .venv/installed-test
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(PARALLEL) tests --ignore=tests/conformance --ignore=tests/site
	CXX="$(CURDIR)/.venv/bin/python -m ziglang c++" $(PARALLEL) $(KERNEL_TESTS)
	$(PYTEST) tests/conformance -rfE --disable-warnings
	rm -rf _build/kernels
	CUPY_STANDIN=always CUPY_STANDIN_LISTENER=$(CURDIR)/tests/chapters_kernels.py \
	    $(PARALLEL) --nbval notebooks
	.venv/bin/python tests/chapters_kernels.py
	$(MAKE) --no-print-directory book
	$(PYTEST) tests/site

lab: .venv/installed
	$(RUN) jupyterlab notebooks

record: .venv/installed
	$(RUN) helpers.press.record

clean:
	rm -rf .venv _build book/generated

# Stamp files: a second `make` installs nothing. The stand-in compiles kernels; where there is no C++
# compiler, the ziglang wheel is one.
.venv/installed: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "The book needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.13"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	    { echo "$(PYTHON) cannot make a virtual environment. On Debian or Ubuntu: sudo apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv .venv
	$(RUN) pip install --quiet --requirement requirements.txt
	command -v $${CXX:-g++} >/dev/null || command -v clang++ >/dev/null || $(RUN) pip install --quiet ziglang
	touch $@

# Of the older CuPy the tests read the headers alone, so it is not installed.
.venv/installed-test: .venv/installed
	$(RUN) pip install --quiet --editable '.[test]'
	$(RUN) pip download --quiet --no-deps --only-binary=:all: --implementation cp --python-version 3.12 \
	    --platform manylinux2014_x86_64 --dest .venv/cupy-13 cupy-cuda13x==13.6.0
	touch $@
