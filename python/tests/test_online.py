"""`interleaving_test`, `ab_test`, `test_plan`, `judgments`: the cases, and what is refused."""

import csv
from pathlib import Path

import pytest

from click_bandits import ab_test, fit, interleaving_test, judgments, test_plan as plan_of

CASES = Path(__file__).parents[2] / "crates" / "interleaving" / "tests" / "data"


def table(name):
    with open(CASES / name, newline="") as file:
        rows = list(csv.DictReader(file))
    return {key: [int(row[key]) if key == "clicks" else row[key] for row in rows] for key in rows[0]}


@pytest.mark.parametrize("read", [lambda name: CASES / name, table])
def test_the_cases(read):
    found = interleaving_test(read("teams.csv"), baseline="old")
    assert (found["verdict"], found["users"]) == ("new", {"new": 82, "old": 42, "ties": 26})
    lists = interleaving_test(read("teams.csv"), unit="list")
    assert lists["users"] == {"new": 168, "old": 94, "ties": 40}
    found = ab_test(read("ab.csv"))
    assert found["z"] == pytest.approx(0.7933769433302855, rel=1e-9)
    assert found["split"]["p"] == pytest.approx(0.6170750774519739, rel=1e-9)
    assert ab_test(read("ab.csv"), looks=4, look=1)["boundary"] == pytest.approx(2 * 2.0243)


def test_plans():
    assert plan_of("ab", mean=1, sd=1, effect=0.1)["rows"][1]["fixed"] == 1570
    assert plan_of("interleaving", effect=0.1)["rows"][1]["open"] == 370
    for wrong in [{"kind": "both"}, {"kind": "ab"}, {"kind": "interleaving", "effect": 0.5}, {"kind": "ab", "power": 2}]:
        with pytest.raises(ValueError):
            plan_of(**wrong)


def test_levels():
    plans = [plan_of("ab", mean=1, sd=1, effect=0.1, level=level) for level in (0.99, 0.01)]
    assert plans[0] == plans[1] and plans[0]["alpha"] == 0.01
    found = interleaving_test(table("teams.csv"), level=0.999)
    assert (found["verdict"], [remark["code"] for remark in found["remarks"]][0]) == (None, "interval-holds-zero")
    with pytest.raises(ValueError, match="level is 1"):
        interleaving_test(table("teams.csv"), level=1)


def test_remarks_have_codes():
    clicks = {"user": ["a", "a", "a", "b"], "team": ["new", "new", "old", "old"], "list": ["l1"] * 3 + ["l2"], "position": [1, 1, 2, 1]}
    found = interleaving_test(clicks)
    assert found["users"] == {"new": 0, "old": 1, "ties": 1}
    assert [remark["code"] for remark in found["remarks"]] == ["interval-holds-zero", "repeated-clicks", "heavy-user"]
    assert "`max_sessions_per_user` leaves" in found["remarks"][-1]["text"]
    dead = {"user": list(range(1200)), "arm": ["today", "new"] * 600, "clicks": [1, 0, 0, 0] * 300}
    assert ab_test(dead, baseline="today")["verdict"] == "today"


def test_what_is_refused():
    for given, message in [
        ({"user": ["u", "v", "w"], "team": ["a", "b", "c"]}, "row 2, column `team`: a third name"),
        ({"user": ["u", ""], "team": ["a", "b"]}, "row 1, column `user`: nothing there"),
        ({"team": ["a", "b"]}, "no column `user`"),
        ({"user": ["u"], "team": ["a"]}, "a test compares two"),
    ]:
        with pytest.raises(ValueError, match=message):
            interleaving_test(given)
    with pytest.raises(OSError):
        interleaving_test("no such file.csv")
    with pytest.raises(ValueError, match="unit"):
        interleaving_test(table("teams.csv"), unit="session")
    with pytest.raises(ValueError, match="a negative number"):
        ab_test({"user": ["u", "v"], "arm": ["A", "B"], "clicks": [1, -1]})


def test_judgments():
    counts = {
        "query": ["red shoes"] * 2 + ["boots"] * 2,
        "item": ["a", "b"] * 2,
        "position": [1, 2] * 2,
        "clicks": [40, 10, 0, 30],
        "impressions": [100] * 4,
    }
    fitted = fit(counts, format="counts", model="pbm")
    rows = judgments(fitted, by="coec").splitlines()
    assert rows[3].startswith("red shoes,a,2,")
    assert "IMPORT_JUDGMENT" in judgments(fitted, "workbench")
    assert judgments(fitted, "quepid", by="coec", scale="0-3").splitlines()[1:] == ["boots,a,0", "boots,b,3", "red shoes,a,3", "red shoes,b,1"]
    assert judgments(fitted, "trec", by="coec").splitlines() == ["1 0 a 0", "1 0 b 3", "2 0 a 3", "2 0 b 1"]
    assert judgments(fitted, "topics") == "1\tboots\n2\tred shoes\n"
    formula = fit({**counts, "query": ["=cmd|1"] * 4, "item": ["a", "b", "c", "d"]}, format="counts", model="pbm")
    assert judgments(formula, by="coec").splitlines()[1].startswith("'=cmd|1,a,")
    assert judgments(formula, by="coec", keep_formulas=True).splitlines()[1].startswith("=cmd|1,a,")
    spaced = fit({**counts, "item": ["a b", "c"] * 2}, format="counts", model="pbm")
    with pytest.raises(ValueError, match="white space"):
        judgments(spaced, "trec")


def every_time():
    """The same fourteen days of one test, in every type of time that a table has."""
    from datetime import date, datetime, timedelta, timezone

    import numpy as np

    first = datetime(2026, 3, 1, 9, 30, tzinfo=timezone.utc)
    times = [first + timedelta(days=row // 20, seconds=row % 20) for row in range(280)]
    seconds = np.array([time.timestamp() for time in times])
    yield "text", [time.isoformat() for time in times]
    yield "datetimes", times
    yield "dates", [time.date() for time in times]
    yield "fractions of seconds", seconds + 0.25
    for unit in ["D", "s", "ms", "us", "ns"]:
        yield f"datetime64[{unit}]", seconds.astype("datetime64[s]").astype(f"datetime64[{unit}]")
    arrow = pytest.importorskip("pyarrow")
    for kind in [
        *(arrow.timestamp(unit, zone) for unit in ["s", "ms", "us", "ns"] for zone in [None, "UTC", "Europe/Berlin"]),
        arrow.date32(),
        arrow.date64(),
        arrow.dictionary(arrow.int32(), arrow.timestamp("us")),
    ]:
        values = arrow.array(times, arrow.timestamp("us", "UTC"))
        if arrow.types.is_dictionary(kind):
            values = values.cast(arrow.timestamp("us")).dictionary_encode()
        else:
            values = values.cast(arrow.date32()).cast(kind) if arrow.types.is_date(kind) else values.cast(kind)
        yield str(kind), values


@pytest.mark.parametrize("kind, times", list(every_time()), ids=lambda given: given if isinstance(given, str) else "")
def test_every_type_of_time(kind, times, tmp_path):
    rows = {"user": list(range(280)), "arm": ["a", "b"] * 140, "clicks": [1, 0, 2, 1, 0] * 56}
    days = [day["day"] for day in ab_test({**rows, "time": [f"2026-03-{1 + row // 20:02}" for row in range(280)]})["days"]]
    tables = [{**rows, "time": times}]
    arrow = pytest.importorskip("pyarrow")
    frame = arrow.table({**rows, "time": times})
    tables.append(frame)
    for library, of in [("pandas", lambda module: frame.to_pandas()), ("polars", lambda module: module.from_arrow(frame))]:
        tables.append(of(pytest.importorskip(library)))
    duckdb = pytest.importorskip("duckdb")
    tables.append(duckdb.from_arrow(frame))
    parquet = pytest.importorskip("pyarrow.parquet")
    if kind != "date64":
        parquet.write_table(frame, tmp_path / "visits.parquet")
        tables.append(tmp_path / "visits.parquet")
    if kind.startswith("timestamp") or kind.startswith("datetime"):
        parquet.write_table(frame, tmp_path / "spark.parquet", use_deprecated_int96_timestamps=True)
        tables.append(tmp_path / "spark.parquet")
    for table in tables:
        assert [day["day"] for day in ab_test(table)["days"]] == days, type(table)


def test_a_column_of_time_is_left_out():
    rows = {"user": ["u", "v"] * 50, "arm": ["A", "B"] * 50, "clicks": [1, 0] * 50, "time": [object()] * 100}
    with pytest.raises(TypeError, match="row 0, column `time`"):
        ab_test(rows)
    expected = ab_test({key: column for key, column in rows.items() if key != "time"})
    for columns in [{"time": None}, {"time": ""}, "time="]:
        assert ab_test(rows, columns=columns) == expected
    with pytest.raises(ValueError, match="`user=`: a column has a name"):
        ab_test(rows, columns="user=")
    with pytest.raises(ValueError, match=r'no column `user`.*: columns=\{"user": \.\.\} names a column'):
        ab_test({key: rows[key] for key in ("arm", "clicks")})
    for given in ({}, {"mean": 0.4}):
        with pytest.raises(ValueError, match="clicks a session are missing: give mean and sd"):
            plan_of("ab", **given)
