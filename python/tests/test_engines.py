"""Counts of a warehouse's engine as a table: the fit of the rows that it counted."""

import sys

import numpy as np
import pytest

from click_bandits import fit

STATEMENT = """
SELECT query, item, position, CAST(SUM(click) AS BIGINT) AS clicks, CAST(COUNT(*) AS BIGINT) AS impressions
FROM log GROUP BY query, item, position
"""


@pytest.fixture(scope="module")
def log():
    generator = np.random.default_rng(1)
    n = 4000
    item, position = generator.integers(0, 4, n), generator.integers(1, 4, n)
    click = (generator.random(n) < (0.1 + 0.15 * item) / position).astype(np.int64)
    return {"query": generator.integers(0, 2, n), "item": item, "position": position, "click": click}


def estimates(fitted):
    table = fitted.parameters
    place = zip(table["query"], table["kind"], table["item"], table["position"])
    return {tuple(map(str, key)): value for key, value in zip(place, table["estimate"])}


@pytest.fixture(scope="module")
def expected(log):
    return estimates(fit(log, model="pbm"))


def check(counts, expected):
    found = estimates(fit(counts, format="counts", model="pbm"))
    assert found.keys() == expected.keys() and len(found) >= 14
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, rel=1e-12)


def test_duckdb(log, expected):
    duckdb = pytest.importorskip("duckdb")
    pyarrow = pytest.importorskip("pyarrow")
    connection = duckdb.connect()
    connection.register("log", pyarrow.table(log))
    check(connection.sql(STATEMENT), expected)
    # Sums are decimals without a cast, and so are averages of decimals.
    check(connection.sql(STATEMENT.replace("AS BIGINT", "AS HUGEINT")), expected)
    check(connection.sql(STATEMENT.replace("AS BIGINT", "AS DECIMAL(20, 3)")), expected)
    with pytest.raises(ValueError, match="row 0, column `clicks`: expected a whole number"):
        check(connection.sql(STATEMENT.replace("SUM(click) AS BIGINT", "0.5 AS DECIMAL(20, 3)")), expected)


def test_spark(log, expected, monkeypatch):
    sql = pytest.importorskip("pyspark.sql")
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    session = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        session.createDataFrame(pandas.DataFrame(log)).createOrReplaceTempView("log")
        check(session.sql(STATEMENT).toArrow(), expected)
    finally:
        session.stop()
