"""How long `fit` of a data frame takes, against the command `click-bandits fit` on the same rows as
Parquet and CSV.

    cargo build --release -p click-bandits                 # from the root: the command
    python benches/fit.py ../target/release/click-bandits [--rows N] [--pairs N] [--frames polars,pandas]

Every pair is a fit of the frame and a run of the command, one after the other in alternating order;
the ratios are medians over pairs of wall time and of processor time. The frame is in memory; the
command reads files that are in the system's cache, and writes its results without an answer
(`--answer 0`), which the package does not compute. Needs pyarrow; takes polars and pandas if they
are there.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet

from click_bandits import fit

SETTINGS = ["--model", "pbm", "--answer", "0", "--quiet"]
COLUMNS = "query=query,item=item,position=position,click=click"


def log(rows):
    """Impressions of 2,000 queries with 20 items, at 10 positions."""
    random = np.random.default_rng(1)
    query, item = random.integers(0, 2000, rows), random.integers(0, 20, rows)
    position = random.integers(1, 11, rows)
    click = random.random(rows) < (0.02 + 0.015 * item) * 0.8 ** (position - 1)
    return {"query": query, "item": item, "position": position, "click": click.astype(np.int64)}


def measured(work):
    """Wall time, and processor time of this process and of those it waited for."""

    def processor():
        usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(usage.ru_utime + usage.ru_stime for usage in usages)

    start, used = time.perf_counter(), processor()
    result = work()
    return time.perf_counter() - start, processor() - used, result


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("command")
    arguments.add_argument("--rows", type=int, default=10_000_000)
    arguments.add_argument("--pairs", type=int, default=11)
    arguments.add_argument("--frames", default="numpy,pyarrow,polars,pandas")
    arguments = arguments.parse_args()
    columns = log(arguments.rows)
    table = pyarrow.table(columns)
    frames = {"numpy": columns, "pyarrow": table}
    for library in ("polars", "pandas"):
        try:
            frames[library] = __import__(library).DataFrame(columns)
        except ImportError:
            print(f"without {library}")
    frames = {name: frame for name, frame in frames.items() if name in arguments.frames.split(",")}
    with tempfile.TemporaryDirectory() as place:
        files = {"parquet": Path(place, "log.parquet"), "delimited": Path(place, "log.csv")}
        pyarrow.parquet.write_table(table, files["parquet"])
        pyarrow.csv.write_csv(table, files["delimited"])
        count = iter(range(10**6))

        def command(format):
            out = Path(place, f"out{next(count)}")
            line = [arguments.command, "fit", files[format], "--format", format, "--columns", COLUMNS, "--out", out, *SETTINGS]
            subprocess.run(list(map(os.fspath, line)), check=True)
            return out

        print(f"{arguments.rows} rows, {arguments.pairs} pairs, {os.cpu_count()} cores, {sys.version.split()[0]}")
        print("frame, against the command on: wall and processor seconds of both, ratios")
        for name, frame in frames.items():
            for format in files:
                pairs = []
                for pair in range(arguments.pairs):
                    works = [lambda: fit(frame, model="pbm"), lambda: command(format)]
                    order = [0, 1] if pair % 2 == 0 else [1, 0]
                    times = {which: measured(works[which]) for which in order}
                    pairs.append((times[0], times[1]))
                for (_, _, fitted), (_, _, out) in pairs[:1]:
                    records = [json.loads(fitted.to_json()), json.loads(Path(out, "parameters.json").read_bytes())]
                    for record in records:
                        del record["log"]["bytes"], record["log"]["files"]
                    assert records[0] == records[1], "the same parameters"
                medians = [[statistics.median(pair[which][of] for pair in pairs) for of in (0, 1)] for which in (0, 1)]
                ratios = [statistics.median(a[of] / b[of] for a, b in pairs) for of in (0, 1)]
                print(
                    f"{name}, {format}: {medians[0][0]:.2f} and {medians[0][1]:.2f} s, {medians[1][0]:.2f} and {medians[1][1]:.2f} s, "
                    f"ratios {ratios[0]:.2f} and {ratios[1]:.2f}",
                    flush=True,
                )


main()
