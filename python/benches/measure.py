"""Measures the package: CPU time of decisions, of confidence bounds, memory, and the size of the wheel.

    python benches/measure.py [WHEEL]

CPU time of this process; the medians of five repetitions, so that other work on the machine matters less.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from typing import Any, Callable

import numpy as np
from click_bandits import Policy, confidence, models

EXAMINATION = [0.9, 0.7, 0.5, 0.3, 0.2]
ATTRACTION = np.linspace(0.05, 0.5, 20)
GAMES: list[tuple[str, Any]] = [
    ("rsf-ts", models.RandomSemiBandit(ATTRACTION, EXAMINATION, seed=1)),
    ("pbm-ucb", models.PositionBased(ATTRACTION, EXAMINATION, seed=1)),
    ("pbm-ts", models.PositionBased(ATTRACTION, EXAMINATION, seed=1)),
]


def median(work: Callable[[], float]) -> float:
    """The median of five results."""
    return statistics.median(work() for _ in range(5))


def batches(policy: Policy, users: Any) -> float:
    """Decisions with updates per CPU-second, in batches of 10,000."""
    spent = 0.0
    for _ in range(40):
        start = time.process_time()
        batch = policy.select_batch(10_000)
        spent += time.process_time() - start
        response = users.respond(batch)
        answer = response if isinstance(response, tuple) else (response,)
        start = time.process_time()
        policy.update_batch(batch, *answer)
        spent += time.process_time() - start
    return 400_000 / spent


def single(policy: Policy, clicks: Any) -> tuple[float, float]:
    """Microseconds of CPU time of `select` and of `update`."""
    start = time.process_time()
    decisions = [policy.select() for _ in range(50_000)]
    middle = time.process_time()
    for decision in decisions:
        policy.update(decision, clicks)
    return (middle - start) / 0.05, (time.process_time() - middle) / 0.05


def memory() -> float:
    """Resident memory of the process, in megabytes (Linux)."""
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    for name, users in GAMES:
        policy = Policy(name, **users.known(), seed=1)
        print(f"{name}, 20 items, 5 positions")
        print(f"  in batches: {median(lambda: batches(policy, users)):,.0f} decisions with updates per CPU-second")
        for kind, clicks in (("list", [True, False, False, False, False]), ("array", np.array([1, 0, 0, 0, 0], bool))):
            times = [single(policy, clicks) for _ in range(5)]
            select, update = (statistics.median(column) for column in zip(*times))
            print(f"  singly, clicks as {kind}: select {select:.2f} us, update {update:.2f} us")
    rng = np.random.default_rng(1)
    mean, n = rng.random(1_000_000), rng.integers(0, 10_000, 1_000_000).astype(float)

    def index(level: Any) -> float:
        start = time.process_time()
        confidence.kl_ucb_upper(mean, n, level)
        return (time.process_time() - start) * 1e3

    print(f"kl_ucb_upper, 10^6 elements: {median(lambda: index(5.0)):.1f} ms at one level, ", end="")
    levels = np.full(1_000_000, 5.0)
    print(f"{median(lambda: index(levels)):.1f} ms with a level each")
    for _ in range(1000):
        Policy("pbm-ts", items=20, examination=EXAMINATION, seed=1)
    before, start = memory(), time.process_time()
    for _ in range(1_000_000):
        Policy("pbm-ts", items=20, examination=EXAMINATION, seed=1)
    spent = time.process_time() - start
    print(f"10^6 policies made and dropped: {spent:.1f} s, memory {before:.1f} MB before, {memory():.1f} MB after")
    before = memory()
    for _ in range(100_000):
        try:
            Policy("pbm-tss")
        except ValueError:
            pass
    print(f"10^5 failed calls: memory {before:.1f} MB before, {memory():.1f} MB after")
    for wheel in sys.argv[1:]:
        print(f"{os.path.basename(wheel)}: {os.path.getsize(wheel) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
