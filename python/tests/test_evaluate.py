"""`evaluate`: every number of the cases, from files and from tables; and what is refused."""

import csv
import importlib
import json
from pathlib import Path

import numpy as np
import pytest

from click_bandits import evaluate

CASES = Path(__file__).parents[2] / "crates" / "evaluation" / "tests" / "data"
COLUMNS = {
    "session": "session",
    "user": "user",
    "query": "query",
    "item": "item",
    "position": "position",
    "click": "click",
    "propensity": "propensity",
    "prefix-propensity": "prefix_propensity",
    "list-propensity": "list_propensity",
}


def table(path):
    """A CSV file as a dict of columns; numbers as numbers."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    number = {"position": int, "click": int, "probability": float}
    number.update((name, float) for name in rows[0] if name.endswith("propensity"))
    return {name: [number.get(name, str)(row[name]) for row in rows] for name in rows[0]}


def close(found, expected):
    if expected is None:
        assert found is None or np.isnan(found)
    else:
        assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir()))
@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_every_number_of_a_case(case, in_memory, named):
    expected = json.loads((CASES / case / "expected.json").read_text())
    log, ranking = CASES / case / "log.csv", CASES / case / "ranking.csv"
    given = {"values": expected["values_of_clicks"], "columns": COLUMNS, "model": "none"}
    if not named:
        # The columns of a table have these names, and its propensities are read with them.
        given["columns"] = None if in_memory else COLUMNS
    if in_memory:
        found = evaluate(table(log), table(ranking), **given)
    else:
        found = evaluate(log, ranking, format="delimited", **given)
    with pytest.raises(ValueError, match="the values of clicks: expected"):
        evaluate(log, ranking, format="delimited", **{**given, "columns": COLUMNS, "values": given["values"] + [1.0]})
    record = json.loads(found.to_json())
    for key in ["lists", "users", "groups"]:
        assert record[key] == expected[key]
    for key in ["value", "se"]:
        close(record["today"][key], expected["today"][key])
    for name, mass in expected["target_mass_without_support"].items():
        close(record["target_mass_without_support"][name], mass)
    rows = {row["level"]: row for row in found.levels}
    for name, level in expected["estimators"].items():
        if "refused" in level:
            assert rows[name]["refused"].startswith(level["refused"])
            continue
        for key in ["value", "se", "difference", "difference_se", "effective_lists", "largest_share"]:
            close(rows[name][key], level[key])
        for mean, wanted in zip(record["estimators"][name]["mean_weight"], level["mean_weight"]):
            close(mean, wanted)
    assert found.sentence == record["sentence"] and found.models is None


def test_learned_lists_and_models():
    random = np.random.default_rng(5)
    lists, positions, items = 2000, 3, 5
    item = np.concatenate([random.permutation(items)[:positions] for _ in range(lists)])
    position = np.tile(np.arange(1, positions + 1), lists)
    click = random.random(lists * positions) < (0.1 + 0.15 * item) * 0.7 ** (position - 1)
    session = np.repeat(np.arange(lists), positions)
    log = {"session": session, "item": item, "position": position, "click": click}
    found = evaluate(log, "learned", model="pbm")
    row = next(iter(found.models))
    assert row["model"] == "pbm" and row["difference_lower"] > 0 and row["answers"]
    assert found.levels is None and "Lists learned from this log" in found.sentence
    best = {"query": ["all"] * 3, "position": [1, 2, 3], "item": [4, 3, 2]}
    given = next(iter(evaluate(log, best, model=["pbm"]).models))
    assert given["value"] == pytest.approx(row["value"], abs=3 * given["se"])


def test_a_ranking_has_the_columns_of_the_log(tmp_path):
    log = {"visit": [row // 2 for row in range(200)], "sku": ["a", "b", "b", "a"] * 50, "rank": [1, 2] * 100, "click": [1, 0, 0, 0] * 50}
    columns = {"session": "visit", "item": "sku", "position": "rank", "click": "click"}
    ranking = {"query": ["all"] * 2, "rank": [1, 2], "sku": ["b", "a"]}
    file, own = tmp_path / "log.csv", tmp_path / "new.csv"
    for path, table in [(file, log), (own, ranking)]:
        path.write_text("\n".join(",".join(map(str, row)) for row in [list(table), *zip(*table.values())]) + "\n")
    expected = evaluate(log, {"query": ["all"] * 2, "position": [1, 2], "item": ["b", "a"]}, columns=columns, model=None)
    assert evaluate(log, ranking, columns=columns, model=None).to_json() == expected.to_json()
    assert evaluate(log, own, columns=columns, model=None).to_json() == expected.to_json()
    assert evaluate(file, own, format="csv", columns=columns, model=None).to_json() == expected.to_json()
    with pytest.raises(TypeError, match="no column `item`"):
        evaluate({**log, "position": log["rank"], "item": log["sku"], "session": log["visit"]}, ranking, model=None)


def test_a_ranking_is_any_table_that_a_log_may_be():
    log = {"session": [row // 2 for row in range(200)], "item": [1, 2, 2, 1] * 50, "position": [1, 2] * 100, "click": [1, 0, 0, 0] * 50}
    columns = {"query": ["all"] * 2, "position": [1, 2], "item": [2, 1]}
    expected = evaluate(log, columns, model=None).to_json()
    rankings = [[dict(zip(columns, row)) for row in zip(*columns.values())]]
    for library, make in [
        ("polars", lambda polars: polars.LazyFrame(columns)),
        ("polars", lambda polars: polars.DataFrame(columns)),
        ("pandas", lambda pandas: pandas.DataFrame(columns)),
        ("pyarrow", lambda pyarrow: pyarrow.table(columns)),
        ("duckdb", lambda duckdb: duckdb.sql("select * from (values ('all', 1, 2), ('all', 2, 1)) as t(query, position, item)")),
    ]:
        try:
            rankings.append(make(importlib.import_module(library)))
        except ImportError:
            continue
    for ranking in rankings:
        assert evaluate(log, ranking, model=None).to_json() == expected, type(ranking)


def test_what_is_no_ranking_is_refused():
    log = {"session": [1, 1], "item": ["a", "b"], "position": [1, 2], "click": [0, 1]}
    for ranking, error, message in [
        ({"query": ["all"], "position": [2], "item": ["a"]}, ValueError, "ranking: row 0, column `position`: expected position 1"),
        ({"query": ["all"], "position": [0], "item": ["a"]}, ValueError, "rankings count from 1, found"),
        ({"query": ["other"], "position": [1], "item": ["a"]}, ValueError, "no query of the ranking is in the log: .*; a log without queries has one, `all`"),
        ({"position": [1], "item": ["a"]}, TypeError, "no column `query`; a log without queries has one, `all`"),
        ({"query": ["all"], "position": [1]}, TypeError, "position and item; no column `item`"),
        ({"query": ["all"] * 2, "position": [1, 2], "item": ["a", None]}, ValueError, "ranking: row 1, column `item`: nothing there"),
        ({"query": ["all"], "position": [None], "item": ["a"]}, TypeError, "ranking: column `position`: "),
        ("missing.csv", OSError, "missing.csv"),
        (7, TypeError, "expected a path"),
    ]:
        with pytest.raises(error, match=message):
            evaluate(log, ranking, model=None)
