"""Counts a delimited log on an engine, and prints processor seconds of all threads and peak memory.

python3 time.py duckdb|polars LOG

The columns of the log are `query`, `item`, `position`, `click` and `impressions`, all of them whole
numbers.
"""

import resource
import sys
import time

KEYS = ["query", "item", "position"]
SUMS = ["click", "impressions"]


def with_duckdb(log):
    import duckdb

    connection = duckdb.connect()
    columns = ", ".join(f"'{name}': 'BIGINT'" for name in KEYS + SUMS)
    sums = ", ".join(f"CAST(SUM({name}) AS BIGINT) AS {name}" for name in SUMS)
    table = f"read_csv('{log}', header = true, columns = {{{columns}}})"
    before = time.process_time()
    connection.execute(
        f"CREATE TABLE counts AS SELECT {', '.join(KEYS)}, {sums} FROM {table} GROUP BY {', '.join(KEYS)}"
    )
    seconds = time.process_time() - before
    return seconds, connection.execute("SELECT COUNT(*) FROM counts").fetchall()[0][0]


def with_polars(log):
    import polars

    types = {name: polars.Int64 for name in KEYS + SUMS}
    before = time.process_time()
    frame = polars.scan_csv(log, schema_overrides=types).group_by(KEYS).agg(polars.col(SUMS).sum())
    n_cells = frame.collect(engine="streaming").height
    return time.process_time() - before, n_cells


engine, log = sys.argv[1:]
seconds, n_cells = {"duckdb": with_duckdb, "polars": with_polars}[engine](log)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(f"{engine}: {n_cells} cells, {seconds:.2f} CPU-seconds, {peak} MB")
