"""Measures the package: CPU time of decisions, of confidence bounds, memory, and the size of the
wheel.

    python benches/measure.py [WHEEL]

CPU time of this process; the medians of five repetitions, so that other work on the machine matters
less.
"""

from __future__ import annotations

import os
import statistics
import sys
import threading
import time
from typing import Any, Callable

import numpy as np
from click_bandits import Policy, bounds, confidence, models, simulate

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


def for_users() -> float:
    """Decisions per CPU-second of hybrid-ts in a batch for 1,000 users: 1,000 items, 12 positions,
    100 products of features, after 500 lists."""
    rng = np.random.default_rng(1)
    items, users = rng.normal(size=(2, 1000, 9))
    policy = Policy("hybrid-ts", "cascade", items=1000, positions=12, item_features=items, user_features=9, seed=1)
    for _ in range(5):
        first_clicks = np.eye(12, dtype=bool)[rng.integers(0, 12, 100)]
        policy.update_batch(policy.select_batch(100, features=users[:100]), first_clicks)
    start = time.process_time()
    policy.select_batch(1000, features=users)
    return 1000 / (time.process_time() - start)


class Own:
    """Users written in Python, as those of the README."""

    attraction = np.array([0.2, 0.5, 0.3, 0.1])
    best_list = [1, 2]

    def known(self) -> dict[str, Any]:
        return {"model": "pbm", "items": 4, "positions": 2, "examination": [0.9, 0.45]}

    def respond(self, shown: Any) -> Any:
        return self.random.random(2) < self.attraction[list(shown)] * [0.9, 0.45]  # type: ignore[attr-defined]

    def expected(self, shown: Any) -> float:
        return float(self.attraction[list(shown)] @ [0.9, 0.45])


def own_users() -> float:
    """Rounds per CPU-second of pbm-ts with users written in Python."""
    spec = {"name": "own", "task": "regret", "horizon": 20_000, "runs": 2, "seed": 1, "instances": [Own()],
            "policies": [{"policy": "pbm-ts"}]}
    start = time.process_time()
    simulate(spec, threads=1)
    return 40_000 / (time.process_time() - start)


def memory() -> float:
    """Resident memory of the process, in megabytes (Linux)."""
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def threads_over_one(n: int = 8) -> float:
    """Decisions with updates per second of `n` threads, each with a policy of its own, over those
    of one thread.

    That of one thread is per second of its CPU time, what it does on a core of its own. Other work
    on the machine then lowers the result, and cannot raise it above the number of cores.
    """

    def learn(policy: Policy, clicks: Any) -> None:
        for _ in range(20):
            policy.update_batch(policy.select_batch(10_000), clicks)

    def game(seed: int) -> tuple[Policy, Any]:
        clicks = np.zeros((10_000, len(EXAMINATION)), bool)
        return Policy("pbm-ucb", items=20, examination=EXAMINATION, seed=seed), clicks

    start = time.process_time()
    learn(*game(0))
    alone = time.process_time() - start
    threads = [threading.Thread(target=learn, args=game(seed)) for seed in range(n)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return n * alone / (time.perf_counter() - start)


def failing_calls() -> list[Callable[[], object]]:
    """Calls of every kind of function that are refused."""
    policy = Policy("pbm-ts", items=20, examination=EXAMINATION, seed=1)
    many = np.append(np.full(1000, 0.5), np.nan)
    return [
        lambda: Policy("pbm-tss"),
        lambda: Policy.load(b"{}"),
        lambda: policy.update(policy.select(), [2, 0, 0, 0, 0]),
        lambda: confidence.kl_ucb_upper(many, 1.0, 1.0),
        lambda: confidence.beta_mixture_interval(many, 1, 0.1),
        lambda: confidence.empirical_bernstein_sequence(many, 0.1),
        lambda: confidence.pbm_ucb_coverage_bound(many, 1.0),
        lambda: confidence.multi_position_minimum([[2]], [[1]], [0.5]),
        lambda: confidence.exploration_level(1, rate="log"),
        lambda: bounds.cascade_bai_upper_terms([0.5, 0.5], 1, 0.0, 0.1),
        lambda: bounds.rucb_expected_bound([[0.5, 0.7], [0.3, 0.5]], [2.0, 0.1], 10),
        lambda: bounds.pbm_lower_bound_terms([0.5, 1.5], [0.5]),
    ]


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
    print(f"hybrid-ts for 1,000 users in a batch: {median(for_users):,.0f} decisions per CPU-second")
    print(f"simulate with users in Python: {median(own_users):,.0f} rounds per CPU-second")
    print(f"eight threads, a policy each, over one thread: {median(threads_over_one):.2f}")
    for _ in range(1000):
        Policy("pbm-ts", items=20, examination=EXAMINATION, seed=1)
    before, start = memory(), time.process_time()
    for _ in range(1_000_000):
        Policy("pbm-ts", items=20, examination=EXAMINATION, seed=1)
    spent = time.process_time() - start
    print(f"10^6 policies made and dropped: {spent:.1f} s, memory {before:.1f} MB before, {memory():.1f} MB after")
    before = memory()
    calls = failing_calls()
    failed = 0
    for i in range(100_000 + len(calls)):
        # The first call of each kind imports what it needs.
        if i == len(calls):
            before = memory()
        try:
            calls[i % len(calls)]()
        except ValueError:
            failed += 1
    assert failed == 100_000 + len(calls)
    print(f"10^5 failed calls of {len(calls)} kinds: memory {before:.1f} MB before, {memory():.1f} MB after")
    for wheel in sys.argv[1:]:
        print(f"{os.path.basename(wheel)}: {os.path.getsize(wheel) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
