"""Plays one row of an adapter; a child process of `packages.py` in the environment of the package.

    python one_row.py ADAPTER                prints the rows of the adapter
    python one_row.py ADAPTER ROW speed      rounds per CPU-second, and the first actions
    python one_row.py ADAPTER ROW check      whether it learns, whether a pickled copy goes on, what another seed does
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
TRACE = 200
"""The first rounds, which have to be the same with the same seed."""
LEARNED = (3000, 1000)
"""What is learned in so many rounds is judged by the next so many."""


def seeded(row: Row, seed: int) -> Any:
    """A fresh policy. The global generators are seeded, too, for packages that draw from them."""
    random.seed(seed)
    np.random.seed(seed)
    return row.make(seed)


def played(row: Row, policy: Any, rounds: int) -> list[Any]:
    """At least so many rounds; the actions as JSON."""
    return np.asarray(row.play(policy, -(-rounds // row.step) * row.step)).tolist()


def speed(row: Row) -> dict[str, Any]:
    """Over as many rounds as take 0.3 s, after rounds that warm up."""
    policy = seeded(row, 1)
    trace = played(row, policy, TRACE)[:TRACE]
    rounds = row.step
    while True:
        start = time.process_time()
        row.play(policy, rounds)
        spent = time.process_time() - start
        if spent >= SECONDS:
            return {"rate": rounds / spent, "rounds": rounds, "trace": trace}
        wanted = int(rounds * 1.1 * SECONDS / max(spent, SECONDS / 20))
        rounds = max(wanted // row.step, 1 + rounds // row.step) * row.step


def saved(row: Row) -> str:
    """Whether a pickled copy goes on as the policy does: `yes`, `no`, or the name of the error."""
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


def check(row: Row) -> dict[str, Any]:
    """What speed alone does not tell."""
    policy = seeded(row, 2)
    before, judged = LEARNED
    trace = played(row, policy, TRACE)[:TRACE]
    played(row, policy, before)
    return {"other": trace, "saved": saved(row), "worth": worth(row.task, played(row, policy, judged))}


def main() -> None:
    rows: list[Row] = importlib.import_module(sys.argv[1]).ROWS
    if len(sys.argv) == 2:
        print(json.dumps([{"task": row.task, "policy": row.policy, "how": row.how} for row in rows]))
        return
    row = rows[int(sys.argv[2])]
    print(json.dumps({"speed": speed, "check": check}[sys.argv[3]](row)))


if __name__ == "__main__":
    main()
