"""How long `evaluate` of a table in memory takes: `python benches/evaluate.py [ROWS]`.

A log of random lists of ten out of 20 items for 2,000 queries, with the propensities of positions,
and another ranking of every query, with one model; wall time and processor time, medians of three.
Takes polars and pandas if they are there.
"""

import statistics
import sys
import time

import numpy as np

from click_bandits import evaluate


def log(rows):
    random = np.random.default_rng(1)
    lists = rows // 10
    query = np.repeat(random.integers(0, 2000, lists), 10)
    item = random.permuted(np.tile(np.arange(20), (lists, 1)), axis=1)[:, :10].ravel()
    position = np.tile(np.arange(1, 11), lists)
    click = random.random(lists * 10) < (0.02 + 0.015 * item) * 0.8 ** (position - 1)
    return {
        "session": np.repeat(np.arange(lists), 10),
        "query": query,
        "item": item,
        "position": position,
        "click": click.astype(np.int64),
        "propensity": np.full(lists * 10, 1 / 20),
    }


def main():
    columns = log(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
    ranking = {
        "query": np.repeat(np.arange(2000), 10),
        "position": np.tile(np.arange(1, 11), 2000),
        "item": np.tile(np.arange(19, 9, -1), 2000),
    }
    frames = {"numpy": columns}
    for library in ("polars", "pandas"):
        try:
            frames[library] = __import__(library).DataFrame(columns)
        except ImportError:
            print(f"without {library}")
    for name, frame in frames.items():
        times = []
        for _ in range(3):
            wall, processor = time.perf_counter(), time.process_time()
            result = evaluate(frame, ranking, columns={name: name for name in columns}, model="pbm")
            times.append((time.perf_counter() - wall, time.process_time() - processor))
        wall, processor = (statistics.median(column) for column in zip(*times))
        print(f"{name}: {wall:.2f} s, processor {processor:.2f} s", flush=True)
    print(result)


if __name__ == "__main__":
    main()
