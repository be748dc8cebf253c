#!/usr/bin/env bash
# Runs every notebook of this folder from top to bottom in a fresh environment. An error in a cell is
# a failure. The notebooks stay as they are.
#
#     python/notebooks/test.sh [PYTHON]
#     PACKAGE=dist/click_bandits-0.1.0.whl python/notebooks/test.sh
#
# PYTHON is the interpreter, by default `python3`. PACKAGE is what pip installs, by default the
# package's sources beside this folder, which compiles it; a wheel takes less than two minutes.
set -euo pipefail

notebooks=$(cd "$(dirname "$0")" && pwd)
package=${PACKAGE:-$(dirname "$notebooks")}
python=${1:-python3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$python" -m venv "$scratch/venv"
bin=$scratch/venv/bin
"$bin/pip" install --quiet --disable-pip-version-check "$package" matplotlib nbclient ipykernel nbformat

cat > "$scratch/run.py" <<'PYTHON'
import pathlib
import sys
import time

import nbformat
from nbclient import NotebookClient

for name in sys.argv[1:]:
    notebook = nbformat.read(name, as_version=4)
    nbformat.validate(notebook)
    kept = [cell for cell in notebook.cells if cell.cell_type == "code" and (cell.outputs or cell.execution_count)]
    if kept:
        sys.exit(f"{name}: {len(kept)} cells have outputs; commit notebooks without them")
    start = time.monotonic()
    NotebookClient(notebook, timeout=100, kernel_name="python3").execute()
    print(f"{pathlib.Path(name).name}: {time.monotonic() - start:.1f} s")
PYTHON

# Away from the sources, and with the kernel of this environment, whatever the user has installed.
cd "$scratch"
export JUPYTER_PREFER_ENV_PATH=1 JUPYTER_DATA_DIR="$scratch/jupyter" IPYTHONDIR="$scratch/ipython" MPLCONFIGDIR="$scratch/matplotlib"
"$bin/python" run.py "$notebooks"/*.ipynb
