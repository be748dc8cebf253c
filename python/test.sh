#!/usr/bin/env bash
# Tests the Python package as a user gets it: installed by pip into a fresh environment, away from its
# sources.
#
#     python/test.sh [PYTHON]
#
# PYTHON is the interpreter, by default `python3`; CPython 3.9 or later. If CLICK_BANDITS names the
# command, built from the same sources, its files are compared with those of the package.
set -euo pipefail

package=$(cd "$(dirname "$0")" && pwd)
python=${1:-python3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$python" -m venv "$scratch/venv"
bin=$scratch/venv/bin
install() { "$bin/pip" install --quiet --disable-pip-version-check "$@"; }
"$bin/pip" wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$scratch" "$package"
install "$scratch"/*.whl pytest mypy
# Data frames, figures and engines, for tests that skip missing ones: some have no wheel for this interpreter.
for other in pandas polars pyarrow matplotlib duckdb ray; do
    install --only-binary :all: "$other" || echo "SKIPPED: $other cannot be installed here"
done
install pyspark || echo "SKIPPED: pyspark cannot be installed here"

# Away from the sources, so that the installed package is what is tested.
cd "$scratch"
"$bin/python" -m pytest -q -p no:cacheprovider "$package/tests"
"$bin/python" "$package/reference.py" "$package/target/python-api.md"
"$bin/python" -m mypy --strict --cache-dir "$scratch/mypy" "$package/tests/typed.py"
# Stubs have no lists of their names: a name without an underscore is public.
"$bin/python" -m mypy.stubtest click_bandits --allowlist <(echo 'click_bandits\.(_native|bounds|confidence|models)\.__all__')
PACKAGE=$(echo "$scratch"/*.whl) "$package/notebooks/test.sh" "$python"
(cd "$package" && cargo clippy --release --quiet -- -D warnings)
