"""Without Rust, `pip install` stops with one sentence, and fetches no toolchain."""

import pathlib
import subprocess
import sys

PACKAGE = pathlib.Path(__file__).parents[1]


def test_a_build_without_rust_stops_with_a_sentence(tmp_path):
    (tmp_path / "maturin.py").write_text("def get_requires_for_build_wheel(settings=None):\n    return ['puccinialin']\n")
    code = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(PACKAGE)!r}]; import backend; print(backend.get_requires_for_build_wheel())"
    build = subprocess.run([sys.executable, "-c", code], env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert build.returncode == 1 and build.stdout == ""
    assert build.stderr.startswith("click-bandits is compiled from Rust") and build.stderr.count("\n") == 1
    assert 'build-backend = "backend"' in (PACKAGE / "pyproject.toml").read_text()
