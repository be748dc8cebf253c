"""Plays the same games with other Python packages and with this one, and prints the tables of
COMPARISON.md.

    python benches/packages.py --prepare [PACKAGE ...]    makes an environment for each, or for all, and says what installed
    python benches/packages.py --contents                 what each has, by its metadata and public names
    python benches/packages.py [REPETITIONS]              measures; five repetitions by default

All environments together take 16 GB and half an hour. `--prepare` takes the interpreter that runs
it, CPython 3.11 for the page. A package is a row of `PACKAGES` and an adapter in `adapters/`. Every
package plays in a process of its own with one thread; packages alternate within a repetition. Rates
are per second of CPU time.
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
QUIET = {**os.environ, **ONE_THREAD, "PYTHONWARNINGS": "ignore", "PYTHONDONTWRITEBYTECODE": "1"}
LIMIT = 1800
"""Seconds that an installation may take."""


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
    """Packages that have to be installed with it, so that it imports or the game runs."""
    python: str | None = None
    """The interpreter in which it is played, if it does not install in the one that runs this."""

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
    Package("obp", "0.5.7", "obp.policy", "play_obp", ("matplotlib<3.9",), "python3.10"),
    Package(
        "duelpy", "1.0.0", "duelpy.algorithms", "play_duelpy", ("numpy==1.23.5", "scipy==1.10.1", "pandas==1.5.3")
    ),
    Package("dueling-bandit", "0.1.2", "dueling_bandit.agents", "play_dueling_bandit", ("scikit-learn",)),
    Package("clax-models", "0.1.1", "clax"),
    Package("pyClickModels", "0.0.2", "pyClickModels"),
    Package("clickmodels", "1.0.2", "clickmodels.inference"),
]


def python_of(package: Package) -> pathlib.Path:
    return ENVIRONMENTS / package.name / "bin" / "python"


def run(*command: Any) -> tuple[bool, str]:
    """Whether a command succeeds, and the last line that it printed, or of its error."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=LIMIT, env=QUIET)
    said = (done.stdout if done.returncode == 0 else done.stderr + done.stdout).strip().splitlines()
    errors = [line.strip() for line in said if "Error" in line]
    return done.returncode == 0, (errors[-1] if done.returncode and errors else said[-1] if said else "")


def prepare(package: Package) -> list[str]:
    """Makes the environment; what the table says of it: pip alone, the import, what helps, and the
    import then."""
    pip = (python_of(package), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package.requirement)
    venv.create(ENVIRONMENTS / package.name, clear=True, with_pip=True)
    installs = run(*pip)
    imports = run(python_of(package), "-c", f"import {package.imports}") if installs[0] else None
    then = None
    if not (imports and imports[0]) and package.python:
        subprocess.run([package.python, "-m", "venv", "--clear", ENVIRONMENTS / package.name], check=True)
    if package.also or package.python:
        then = run(*pip, *package.also)
        then = run(python_of(package), "-c", f"import {package.imports}") if then[0] else then
    helps = " ".join(([package.python] if package.python else []) + list(package.also))
    said = ["" if one is None else "yes" if one[0] else f"no: `{one[1]}`" for one in (installs, imports, then)]
    return [*said[:2], f"`{helps}`" if helps else "", said[2]]


def prepare_all(names: list[str]) -> None:
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
    print("| package | installs | imports | with | imports then |\n|---|---|---|---|---|")
    for package in PACKAGES:
        if not names or package.name in names:
            print("| " + " | ".join([f"{package.name} {package.version}".strip(), *prepare(package)]) + " |", flush=True)


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


class Player:
    """A process that plays the rows of an adapter, see `adapters/one_row.py`."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.process = subprocess.Popen(
            [str(python_of(package)), str(ADAPTERS / "one_row.py"), str(package.adapter)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=QUIET,
        )
        self.rows: list[dict[str, Any]] = self.answer()

    def answer(self) -> Any:
        line = self.process.stdout.readline() if self.process.stdout else ""
        if not line:
            raise RuntimeError(f"{self.package.name}: its process has ended; run `{self.process.args}` to see why")
        return json.loads(line)

    def ask(self, row: int, what: str) -> Any:
        assert self.process.stdin
        self.process.stdin.write(f"{row} {what}\n")
        self.process.stdin.flush()
        return self.answer()

    def end(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def playable() -> list[Package]:
    """Packages with an adapter and an environment in which they import."""
    return [
        package
        for package in PACKAGES
        if package.adapter and python_of(package).exists() and run(python_of(package), "-c", f"import {package.imports}")[0]
    ]


def checked(package: Package) -> list[dict[str, Any]]:
    """The checks of every row in one process, and whether another process plays the same with the
    same seed."""
    first, second = Player(package), Player(package)
    checks = [first.ask(row, "check") for row in range(len(first.rows))]
    for row, check in enumerate(checks):
        check["same"] = second.ask(row, "trace") == check["trace"]
        check["differs"] = check["trace"] != check["other"]
    first.end()
    second.end()
    return checks


def measured(repetitions: int) -> list[dict[str, Any]]:
    """Every row of every adapter whose environment exists; packages alternate."""
    packages = playable()
    checks = [row for package in packages for row in checked(package)]
    print("checked", file=sys.stderr, flush=True)
    players = [Player(package) for package in packages]
    rows = [
        {"player": player, "package": player.package, "number": number, "rates": [], **row}
        for player in players
        for number, row in enumerate(player.rows)
    ]
    for repetition in range(repetitions):
        for row in rows:
            row["rates"].append(row["player"].ask(row["number"], "speed")["rate"])
        print(f"repetition {repetition + 1} of {repetitions}", file=sys.stderr, flush=True)
    for player in players:
        player.end()
    return [{**row, **check} for row, check in zip(rows, checks)]


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
            same = ("yes" if row["differs"] else "yes, without a seed") if row["same"] else "no"
            lines.append(
                f"| {row['package'].name} | {row['policy']} | {row['how']} | {rounded(statistics.median(row['rates']))} | "
                f"{rounded(min(row['rates']))} to {rounded(max(row['rates']))} | {same} | {row['saved']} | "
                f"{row['worth']:.2f} |"
            )
    return "\n".join(lines)


def main() -> None:
    if sys.argv[1:2] == ["--prepare"]:
        prepare_all(sys.argv[2:])
    elif sys.argv[1:] == ["--contents"]:
        contents()
    else:
        playing = [package.name for package in playable()]
        missing = [package.name for package in PACKAGES if package.adapter and package.name not in playing]
        if playing:
            print(tables(measured(int(sys.argv[1]) if sys.argv[1:] else 5)))
        if missing:
            print(f"\nNot found, so not played: {', '.join(missing)}. `--prepare` installs them.")


if __name__ == "__main__":
    main()
