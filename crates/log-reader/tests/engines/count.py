"""Runs a SQL statement over a KDD Cup 2012 log on an engine and writes what comes out as Parquet.

python3 count.py duckdb|spark STATEMENT LOG OUT
"""

import sys
from pathlib import Path

COLUMNS = (
    "Click Impression DisplayURL AdID AdvertiserID Depth Position QueryID "
    "KeywordID TitleID DescriptionID UserID"
).split()
# A 64-bit hash without a sign, which no engine's BIGINT holds.
TEXT = "DisplayURL"


def with_duckdb(statement, log, out):
    import duckdb

    types = {name: "VARCHAR" if name == TEXT else "BIGINT" for name in COLUMNS}
    connection = duckdb.connect()
    connection.read_csv(log, sep="\t", header=False, columns=types).create_view("training")
    connection.sql(statement).write_parquet(str(Path(out) / "counts.parquet"))


def with_spark(statement, log, out):
    from pyspark.sql import SparkSession

    schema = ", ".join(f"{name} {'STRING' if name == TEXT else 'BIGINT'}" for name in COLUMNS)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    session.read.csv(log, sep="\t", schema=schema).createOrReplaceTempView("training")
    session.sql(statement).write.mode("append").parquet(str(Path(out) / "counts"))
    session.stop()


engine, statement, log, out = sys.argv[1:]
{"duckdb": with_duckdb, "spark": with_spark}[engine](Path(statement).read_text(), log, out)
