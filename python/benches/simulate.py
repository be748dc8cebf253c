"""Measures `simulate`: `python benches/simulate.py [CLICK-BANDITS [PAIRS]]`.

With a command, both play the same experiment on one thread, in turn; the result is the median of
the ratios of CPU time. That of the command contains the start of its process, that of Python does
not contain the start of the interpreter. The last lines say how fast policies and users in Python
are: medians of five.
"""

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from click_bandits import Policy, simulate, spec_files

ITEMS = [0.5 - 0.02 * item for item in range(20)]
EXAMINATION = [0.9, 0.8, 0.6, 0.5, 0.3]
SPEC = {
    "name": "ratio",
    "task": "regret",
    "horizon": 20_000,
    "runs": 60,
    "seed": 1,
    "instances": [{"model": "pbm", "theta": ITEMS, "kappa": EXAMINATION}],
    "policies": [{"policy": "pbm-ts"}, {"policy": "pbm-ucb"}],
}


def of_command(command: str, folder: Path) -> float:
    spec = folder / "spec.toml"
    spec.write_bytes(spec_files(SPEC)["spec.toml"])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    arguments = [command, "simulate", str(spec), "--threads", "1", "--quiet", "--out", str(folder / "command")]
    subprocess.run(arguments, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def of_python(folder: Path) -> float:
    before = time.process_time()
    simulate(SPEC, threads=1, out=folder / "python")
    return time.process_time() - before


class Fixed:
    """A policy in Python that does as little as possible."""

    def __init__(self, **known: object) -> None:
        self.list = [0, 1, 2, 3, 4]

    def select(self) -> list:
        return self.list

    def update(self, decision: list, clicks: list) -> None:
        pass


class Users:
    """The users of the experiment, in Python."""

    attraction, examination = np.array(ITEMS), np.array(EXAMINATION)
    best_list = [0, 1, 2, 3, 4]

    def known(self) -> dict:
        return {"model": "pbm", "items": 20, "positions": 5, "examination": EXAMINATION}

    def respond(self, shown: list) -> object:
        return self.random.random(5) < self.attraction[list(shown)] * self.examination

    def expected(self, shown: list) -> float:
        return float(self.attraction[list(shown)] @ self.examination)


def of_users() -> float:
    """Rounds of pbm-ts per CPU-second with users in Python."""
    before = time.process_time()
    simulate({**SPEC, "runs": 5, "instances": [Users()], "policies": [{"policy": "pbm-ts"}]}, threads=1)
    return 5 * SPEC["horizon"] / (time.process_time() - before)


def rounds_per_second(factory: object) -> float:
    spec = {**SPEC, "runs": 5, "policies": [{"policy": "uniform"}]}
    before = time.process_time()
    simulate(spec, threads=1)
    without = time.process_time()
    simulate(spec, threads=1, policies={"mine": factory})
    return 5 * SPEC["horizon"] / ((time.process_time() - without) - (without - before))


def against(command: str, pairs: int) -> None:
    ratios = []
    for _ in range(pairs):
        with tempfile.TemporaryDirectory() as folder:
            first = of_command(command, Path(folder))
            second = of_python(Path(folder))
            name = "result.json"
            assert (Path(folder) / "command" / name).read_bytes() == (Path(folder) / "python" / name).read_bytes()
        ratios.append(second / first)
        print(f"command {first:.2f} CPU-s, Python {second:.2f} CPU-s: {second / first:.3f}", flush=True)
    print(f"median of {pairs} ratios: {statistics.median(ratios):.3f}")


def main() -> None:
    if len(sys.argv) > 1:
        against(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 11)
    for what, measure in [
        ("a policy in Python that does nothing", lambda: rounds_per_second(Fixed)),
        ("pbm-ts through Python", lambda: rounds_per_second(lambda **known: Policy("pbm-ts", **known))),
        ("pbm-ts with users in Python", of_users),
    ]:
        print(f"{what}: {statistics.median(measure() for _ in range(5)):,.0f} rounds per CPU-second", flush=True)


if __name__ == "__main__":
    main()
