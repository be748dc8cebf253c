"""Plays the rows of an adapter; a child process of `packages.py` in the environment of the package.

    python one_row.py ADAPTER

The first line that it prints has the rows. It then answers lines of its input, `ROW WHAT`, with a
line of JSON each. WHAT is `speed`, rounds per CPU-second; `trace`, the first actions; or `check`,
these, those with another seed, whether a pickled copy continues, and what was learned.
"""

from __future__ import annotations

import importlib
import json
import pickle
import random
import sys
import time
from typing import Any

import numpy as np
from game import Row, worth

SECONDS = 0.3
WARM = 50
"""Rounds before a measurement."""
TRACE = 200
"""The first rounds, which have to be the same with the same seed."""
LEARNED = (1500, 500)
"""Rounds of learning, and rounds after them that judge what was learned."""


def seeded(row: Row, seed: int) -> Any:
    """A fresh policy. The global generators are also seeded, for packages that draw from them."""
    random.seed(seed)
    np.random.seed(seed)
    return row.make(seed)


def played(row: Row, policy: Any, rounds: int) -> list[Any]:
    """Plays at least this number of rounds; the actions as JSON."""
    return np.asarray(row.play(policy, -(-rounds // row.step) * row.step)).tolist()


def speed(row: Row) -> dict[str, Any]:
    """Over as many rounds as take 0.3 s, after rounds that warm up."""
    policy = seeded(row, 1)
    played(row, policy, WARM)
    rounds = row.step
    while True:
        start = time.process_time()
        row.play(policy, rounds)
        spent = time.process_time() - start
        if spent >= SECONDS:
            return {"rate": rounds / spent, "rounds": rounds}
        wanted = int(rounds * 1.1 * SECONDS / max(spent, SECONDS / 20))
        rounds = max(wanted // row.step, 1 + rounds // row.step) * row.step


def saved(row: Row) -> str:
    """Whether a pickled copy continues as the policy does: `yes`, `no`, or the name of the
    error."""
    policy = seeded(row, 1)
    played(row, policy, TRACE)
    try:
        copy = pickle.loads(pickle.dumps(policy))
    except Exception as error:  # whatever a package raises
        return type(error).__name__
    futures = []
    for one in (policy, copy):
        random.seed(2)
        np.random.seed(2)
        futures.append(played(row, one, TRACE))
    return "yes" if futures[0] == futures[1] else "no"


def trace(row: Row, seed: int = 1) -> list[Any]:
    """The first actions with a seed."""
    return played(row, seeded(row, seed), TRACE)[:TRACE]


def check(row: Row) -> dict[str, Any]:
    """Facts that speed alone does not show."""
    policy = seeded(row, 1)
    before, judged = LEARNED
    played(row, policy, before)
    learned = worth(row.task, played(row, policy, judged))
    return {"trace": trace(row), "other": trace(row, seed=2), "saved": saved(row), "worth": learned}


def main() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr  # packages also print
    rows: list[Row] = importlib.import_module(sys.argv[1]).ROWS
    print(json.dumps([{"task": row.task, "policy": row.policy, "how": row.how} for row in rows]), file=answers, flush=True)
    for line in sys.stdin:
        number, what = line.split()
        print(json.dumps({"speed": speed, "trace": trace, "check": check}[what](rows[int(number)])), file=answers, flush=True)


if __name__ == "__main__":
    main()
