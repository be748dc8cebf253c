#!/usr/bin/env bash
# Tests the Python package as a user gets it: installed by pip into a fresh environment, away from its sources.
#
#     python/test.sh [PYTHON]
#
# PYTHON is the interpreter, by default `python3`; CPython 3.9 or later.
set -euo pipefail

package=$(cd "$(dirname "$0")" && pwd)
python=${1:-python3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$python" -m venv "$scratch/venv"
bin=$scratch/venv/bin
"$bin/pip" install --quiet --disable-pip-version-check "$package" pytest mypy
# Data frames for the tests of `fit`, which skips those without a wheel for this interpreter.
for frames in pandas polars pyarrow; do
    "$bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "$frames" || echo "without $frames"
done

# Away from the sources, so that the installed package is what is tested.
cd "$scratch"
"$bin/python" -m pytest -q -p no:cacheprovider "$package/tests"
"$bin/python" -m mypy --strict --cache-dir "$scratch/mypy" "$package/tests/typed.py"
"$bin/python" -m mypy.stubtest click_bandits
(cd "$package" && cargo fmt --check && cargo clippy --release --quiet -- -D warnings)
