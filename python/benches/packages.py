"""Plays the same games with other Python packages and with this one, and prints the tables of COMPARISON.md.

    python benches/packages.py --prepare [PACKAGE ...]    makes an environment for each, or for all, and says what installed
    python benches/packages.py --contents                 what each has, by its metadata and public names
    python benches/packages.py [REPETITIONS]              measures; five repetitions by default

All environments together take 16 GB and half an hour. `--prepare` takes the interpreter that runs it, CPython 3.11 for the page. A package is a row of `PACKAGES` and an adapter in `adapters/`.
Every measurement is a process of its own with one thread; packages alternate within a repetition. Rates are per second of CPU time.
"""

from __future__ import annotations

import json
import os
import pathlib
import statistics
import subprocess
import sys
import venv
from dataclasses import dataclass
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
ADAPTERS = HERE / "adapters"
ENVIRONMENTS = HERE.parent / "target" / "packages"
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "RAYON", "NUMBA")}
LIMIT = 1800
"""Seconds that an installation, or a measurement, may take."""


@dataclass(frozen=True)
class Package:
    """A package as `pip install` gets it."""

    name: str
    version: str
    imports: str
    """The module with what the page speaks of; an installation counts if this imports."""
    adapter: str | None = None
    """Its file in `adapters/`, without `.py`; none if no game is its task."""
    also: tuple[str, ...] = ()
    """What has to be installed with it, so that it imports or the game runs."""

    @property
    def requirement(self) -> str:
        return f"{self.name}=={self.version}" if self.version else str(HERE.parent)


OURS = Package("click-bandits", "", "click_bandits", "play_click_bandits")
PACKAGES = [
    OURS,
    Package("mabwiser", "2.7.4", "mabwiser.mab", "play_mabwiser"),
    Package("river", "0.26.1", "river.bandit", "play_river"),
    Package("slots", "0.4.0", "slots", "play_slots"),
    Package("mabby", "0.1.2", "mabby.strategies", "play_mabby"),
    Package(
        "SMPyBandits", "0.9.7", "SMPyBandits.Policies", "play_smpybandits", ("numpy==1.26.4", "scipy==1.13.1", "pandas==2.2.3")
    ),
    Package("striatum", "0.2.5", "striatum.bandit", "play_striatum"),
    Package("coba", "8.1.0", "coba.learners", "play_coba", ("numpy",)),
    Package("contextualbandits", "0.3.30", "contextualbandits.online", "play_contextualbandits"),
    Package("vowpalwabbit", "9.11.9", "vowpalwabbit", "play_vowpalwabbit", ("numpy",)),
    Package("bayesianbandits", "1.5.0", "bayesianbandits", "play_bayesianbandits"),
    Package("banditlab", "1.1.0", "mab_framework", "play_banditlab"),
    Package("pybandits", "8.4.1", "pybandits.smab", "play_pybandits"),
    Package("obp", "OBP", "obp.policy", "play_obp"),
    Package(
        "duelpy", "1.0.0", "duelpy.algorithms", "play_duelpy", ("numpy==1.23.5", "scipy==1.10.1", "pandas==1.5.3")
    ),
    Package("dueling-bandit", "0.1.2", "dueling_bandit.agents", "play_dueling_bandit", ("scikit-learn",)),
    Package("clax-models", "0.1.1", "clax"),
    Package("pyClickModels", "0.0.2", "pyClickModels"),
]


def python_of(package: Package) -> pathlib.Path:
    return ENVIRONMENTS / package.name / "bin" / "python"


def run(*command: Any) -> tuple[bool, str]:
    """Whether a command succeeds, and the last line that it printed, or of its error."""
    quiet = {**os.environ, **ONE_THREAD, "PYTHONWARNINGS": "ignore", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=LIMIT, env=quiet)
    said = (done.stdout if done.returncode == 0 else done.stderr + done.stdout).strip().splitlines()
    errors = [line.strip() for line in said if "Error" in line]
    return done.returncode == 0, (errors[-1] if done.returncode and errors else said[-1] if said else "")


def prepare(package: Package) -> dict[str, Any]:
    """Makes the environment; whether pip installs the package alone, whether it imports, and whether it does with `also`."""
    venv.create(ENVIRONMENTS / package.name, clear=True, with_pip=True)
    pip = (python_of(package), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    found: dict[str, Any] = {"installs": run(*pip, package.requirement), "imports": (False, ""), "with": (False, "")}
    if found["installs"][0]:
        found["imports"] = run(python_of(package), "-c", f"import {package.imports}")
        if package.also:
            found["with"] = run(*pip, package.requirement, *package.also)
            if found["with"][0]:
                found["with"] = run(python_of(package), "-c", f"import {package.imports}")
    return found


def prepare_all(names: list[str]) -> None:
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
    print("| package | installs | imports | with | imports then |\n|---|---|---|---|---|")
    for package in PACKAGES:
        if names and package.name not in names:
            continue
        found = prepare(package)
        answers = [
            "yes" if good else f"no: `{why}`" for good, why in (found["installs"], found["imports"], found["with"])
        ]
        also = " ".join(package.also)
        version = package.version or "this one"
        print(
            f"| {package.name} {version} | {answers[0]} | {answers[1] if found['installs'][0] else ''} | "
            f"{f'`{also}`' if also else ''} | {answers[2] if also else ''} |",
            flush=True,
        )


def contents() -> None:
    """A line for every subject of every package; at most six names."""
    for package in PACKAGES:
        if not python_of(package).exists():
            continue
        good, line = run(python_of(package), HERE / "contents.py", package.name)
        if not good:
            print(f"{package.name}: {line}")
            continue
        found = json.loads(line)
        print(f"{package.name}: licence {found['licence'] or 'not found'}, {found['tests'] or 'no'} test files installed")
        for subject, names in found["subjects"].items():
            more = f", and {len(names) - 6} more" if len(names) > 6 else ""
            print(f"    {subject}: {', '.join(names[:6]) + more if names else 'not found'}")


def asked(package: Package, *words: Any) -> Any:
    """What the adapter says."""
    good, line = run(python_of(package), ADAPTERS / "one_row.py", package.adapter, *words)
    if not good:
        raise RuntimeError(f"{package.name}, {' '.join(map(str, words))}: {line}")
    return json.loads(line)


def measured(repetitions: int) -> list[dict[str, Any]]:
    """Every row of every adapter whose environment exists; packages alternate."""
    rows = [
        {"package": package, "number": number, "rates": [], "traces": [], **row}
        for package in PACKAGES
        if package.adapter and python_of(package).exists() and run(python_of(package), "-c", f"import {package.imports}")[0]
        for number, row in enumerate(asked(package))
    ]
    for repetition in range(repetitions):
        for row in rows:
            result = asked(row["package"], row["number"], "speed")
            row["rates"].append(result["rate"])
            row["traces"].append(result["trace"])
        print(f"repetition {repetition + 1} of {repetitions}", file=sys.stderr, flush=True)
    for row in rows:
        row.update(asked(row["package"], row["number"], "check"))
    return rows


def rounded(rate: float) -> str:
    """Three digits."""
    return f"{float(f'{rate:.3g}'):,.0f}"


def tables(rows: list[dict[str, Any]]) -> str:
    """A table for each task, the fastest first."""
    lines: list[str] = []
    for task in ("arms", "lists", "duels"):
        lines += [
            "",
            f"### {task}",
            "",
            "| package | policy | called | rounds per CPU-second | lowest to highest | same seed | pickled | worth |",
            "|---|---|---|---|---|---|---|---|",
        ]
        played = [row for row in rows if row["task"] == task]
        for row in sorted(played, key=lambda row: -statistics.median(row["rates"])):
            same = all(trace == row["traces"][0] for trace in row["traces"])
            lines.append(
                f"| {row['package'].name} | {row['policy']} | {row['how']} | {rounded(statistics.median(row['rates']))} | "
                f"{rounded(min(row['rates']))} to {rounded(max(row['rates']))} | {'same' if same else 'differs'} | {row['saved']} | "
                f"{row['worth']:.2f} |"
            )
    return "\n".join(lines)


def main() -> None:
    if sys.argv[1:2] == ["--prepare"]:
        prepare_all(sys.argv[2:])
    elif sys.argv[1:] == ["--contents"]:
        contents()
    else:
        print(tables(measured(int(sys.argv[1]) if sys.argv[1:] else 5)))


if __name__ == "__main__":
    main()
