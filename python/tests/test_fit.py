"""`fit`: every source of the same log gives the same fit, and what is not a log is refused with its
place."""

import copy
import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import click_bandits
from click_bandits import evaluate, fit
from every_model import FITTED, USERS

COLUMNS = {"query": "q", "item": "i", "position": "p", "click": "c"}
SESSIONS = {**COLUMNS, "session": "s"}


def log_of_lists(lists=3000, positions=3, seed=1):
    """Lists of a position-based model, as a dict of arrays."""
    random = np.random.default_rng(seed)
    rows = lists * positions
    query = np.repeat(random.integers(0, 3, lists), positions)
    item = np.concatenate([random.permutation(5)[:positions] for _ in range(lists)])
    position = np.tile(np.arange(1, positions + 1), lists)
    click = random.random(rows) < (0.1 + 0.1 * item) * 0.7 ** (position - 1)
    return {
        "q": np.array(["shoes", "red shoes", "7"], dtype=object)[query],
        "i": item,
        "p": position.astype(np.int32),
        "c": click,
        "s": np.repeat(np.arange(lists), positions),
    }


LOG = log_of_lists()


def as_csv(log, path):
    columns = [column.astype(int) if column.dtype == bool else column for column in log.values()]
    with (gzip.open if str(path).endswith(".gz") else open)(path, "wt") as file:
        file.write(",".join(log) + "\n")
        file.writelines(",".join(map(str, row)) + "\n" for row in zip(*columns))
    return path


def content(fitted):
    """The parameters without the size of the files, which tables in memory do not have, and the type of the items, which text
    does not have."""
    record = json.loads(fitted.to_json())
    del record["log"]["bytes"], record["log"]["files"]
    record.pop("item_type", None)
    return record


def polars_frame():
    polars = pytest.importorskip("polars")
    return polars.DataFrame({**LOG, "q": list(LOG["q"])})


def pyarrow_table():
    return pytest.importorskip("pyarrow").table({**LOG, "q": list(LOG["q"])})


def pandas_frame():
    return pytest.importorskip("pandas").DataFrame(LOG)


def categories():
    frame = pandas_frame()
    return frame.assign(q=frame["q"].astype("category"), date="2026-11-22", mixed=[1, "a", None] * 3000)


class OldPandas:
    """A frame that hands out columns only, as pandas before 2.2."""

    __module__ = "pandas.core.frame"

    def __init__(self):
        self.columns = list(LOG)

    def __getitem__(self, name):
        return LOG[name]


FRAMES = {
    "dict": lambda: LOG,
    "lists": lambda: {name: list(column) for name, column in LOG.items()},
    "old pandas": OldPandas,
    "pandas": pandas_frame,
    "categories": categories,
    "polars": polars_frame,
    "polars, in parts": lambda: (lambda frame: frame[:4000].vstack(frame[4000:]))(polars_frame()),
    "pyarrow": pyarrow_table,
    "pyarrow, in batches": lambda: pyarrow_table().from_batches(pyarrow_table().to_batches(max_chunksize=777)),
    "pyarrow reader": lambda: pyarrow_table().to_reader(max_chunksize=1000),
}


@pytest.fixture(scope="module")
def expected():
    return fit(LOG, columns=SESSIONS)


@pytest.mark.parametrize("name", FRAMES)
def test_every_table_gives_the_same_bytes(name, expected):
    fitted = fit(FRAMES[name](), columns=SESSIONS)
    assert fitted.to_json() == expected.to_json()
    assert list(fitted.comparison) == list(expected.comparison)


def test_files_give_the_same_fit(tmp_path, expected):
    sources = [(as_csv(LOG, tmp_path / "log.csv"), "delimited"), (str(as_csv(LOG, tmp_path / "log.csv.gz")), "delimited")]
    if "pyarrow" in sys.modules or not os.environ.get("CI"):
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow_table(), tmp_path / "log.parquet")
        sources.append((tmp_path / "log.parquet", "parquet"))
    for path, format in sources:
        fitted = fit(path, format=format, columns=SESSIONS)
        assert content(fitted) == content(expected), path
    # The part that is held out depends on the number of the row; in text on the place of the line.
    if sources[-1][1] == "parquet":
        assert list(fitted.comparison) == list(expected.comparison)


@pytest.mark.skipif("CLICK_BANDITS" not in os.environ, reason="CLICK_BANDITS names the program click-bandits, built from the root")
@pytest.mark.parametrize("columns", [COLUMNS, SESSIONS])
@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ([], {}),
        (["--scope", "site", "--prior", "5"], {"scope": "site", "prior": 5}),
        (["--model", "pbm", "--min-impressions", "150"], {"model": "pbm", "min_impressions": 150}),
        (["--held-out", "3", "--seed", "7"], {"held_out": 3, "seed": 7}),
    ],
)
def test_the_command_writes_the_same_bytes(tmp_path, columns, options, arguments):
    path, out = as_csv(LOG, tmp_path / "log.csv"), tmp_path / "out"
    named = ",".join(f"{key}={column}" for key, column in columns.items())
    line = [os.environ["CLICK_BANDITS"], "fit", path, "--format", "delimited", "--columns", named, "--out", out, "--quiet"]
    subprocess.run([*line, *options], check=True)
    fitted = fit(path, format="delimited", columns=columns, **arguments)
    assert (out / "parameters.json").read_bytes() == fitted.to_json()
    comparison = json.loads((out / "comparison.json").read_bytes())
    for key in ("model", "log_likelihood", "difference", "perplexity", "conditional_perplexity"):
        assert [row[key] for row in comparison["models"]] == list(fitted.comparison[key]), key
    assert comparison["users"]["model"] == fitted.report["users"]
    for key in ("model", "slope", "upper", "verdict", "squared_error") if "transfer" in comparison else ():
        assert [row[key] for row in comparison["transfer"]["models"]] == list(fitted.transfer[key]), key
    assert comparison["checks"] == fitted.checks
    if (out / "answer.json").exists():
        assert json.loads((out / "answer.json").read_bytes()) == fitted.answer(seed=arguments.get("seed", 1))
    else:
        assert columns is COLUMNS
        with pytest.warns(UserWarning, match=r'no answer: this log has no whole lists.*`columns=\{"session": \.\.\}`'):
            assert fitted.answer() is None
    again = fit(out / "counts.csv", format="counts")
    assert list(again.counts) == list(fitted.counts)
    tomllib = pytest.importorskip("tomllib")
    (spec,) = [of for of in tomllib.loads((out / "spec.toml").read_text()).values() if isinstance(of, list) and "model" in of[0]]
    assert spec == [{key: users[key] for key in users if key != "log"} for users in fitted.instances()]


def test_the_answer_is_about_the_log(expected):
    answer = expected.answer(queries=2, threads=1)
    assert answer["lists_of_log"] == 3000 and len(answer["queries"]) == 2
    assert answer["all"]["loss"]["lower"] >= 0.0
    assert sum(query["share"] for query in answer["queries"]) == pytest.approx(1.0)
    assert answer["models"][0]["model"] == expected.report["users"]
    assert answer == expected.answer(queries=2)
    assert expected.sentences(queries=2)[0].startswith("Today's ranking gets ")
    with pytest.raises(ValueError, match="queries is 0: expected an integer from 1 to 1000"):
        expected.answer(queries=0)


def test_formats_with_columns_of_their_own(tmp_path):
    examples = {
        "kdd2012": "0\t3\t4298\t7686695\t385\t3\t3\t1601\t5521\t7709\t576\t490234\n1\t1\t4\t9\t3\t1\t1\t1601\t5\t7\t5\t4\n",
        "yandex": "10\t0\tQ\t7\t3\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\n10\t30\tC\t3\n",
        "sessions": "query\turls\tclicked_mask\n5\t8,9,7\t100\n",
        "obd": ",timestamp,item_id,position,click\n0,2019-11-24,14,3,0\n",
        "counts": "query,item,position,clicks,impressions\nq,a,1,3,10\n",
    }
    for format, text in examples.items():
        path = tmp_path / format
        path.write_text(text)
        assert fit([path], format=format).report["impressions"] > 0, format


def test_columns_of_the_usual_names_need_not_be_named(expected):
    usual = dict(zip(["query", "item", "position", "click", "session"], LOG.values()))
    assert fit({**usual, "other": np.zeros(9000, "M8[s]")}).to_json() == expected.to_json()
    text = "query=q,item=i,position=p,click=c,session=s"
    assert fit(LOG, columns=text).to_json() == expected.to_json()


def test_results_do_not_depend_on_threads():
    log = log_of_lists(lists=60_000)
    one, four = (fit(log, columns=SESSIONS, model="dcm", threads=threads) for threads in (1, 4))
    assert one.to_json() == four.to_json() and list(one.comparison) == list(four.comparison)


def test_the_result(expected, tmp_path):
    assert expected.models == list(FITTED)
    parameters = expected.parameters
    assert parameters.columns == [
        "model", "query", "kind", "item", "position", "last_click", "estimate", "se", "lower", "upper", "clicks", "impressions",
    ]
    pbm = [row for row in parameters if row["model"] == "pbm" and row["kind"] == "attraction"]
    assert len(pbm) == 15 and {row["query"] for row in pbm} == {"shoes", "red shoes", "7"}
    assert all(row["lower"] < row["estimate"] < row["upper"] and row["clicks"] < row["impressions"] for row in pbm)
    record = json.loads(expected.to_json())
    assert record["models"][0]["queries"][0]["items"][0]["attraction"]["value"] == pbm[0]["estimate"]
    assert expected.counts["impressions"].sum() == 9000 and len(expected.counts) == 45
    assert expected.report["rows"] == 9000 and expected.report["sessions"] == 3000 and expected.report["skipped"] == {}
    assert set(expected.comparison["model"]) > {*expected.models, "ctr-global"} and expected.comparison["difference"][0] == 0.0
    assert "3 queries, 9000 impressions" in repr(expected)
    expected.save(tmp_path / "parameters.json")
    assert (tmp_path / "parameters.json").read_bytes() == expected.to_json()


def test_counts_can_be_fitted_again():
    fitted = fit(LOG, columns=COLUMNS, model="pbm")
    again = fit(fitted.counts.to_numpy(), format="counts")
    assert again.models == ["pbm"] and "dcm" in again.report["left_out"]
    assert list(again.parameters) == list(fitted.parameters)


def test_users_are_instances(expected):
    users = expected.instances("pbm")
    assert [instance["name"] for instance in users] == ["7", "red shoes", "shoes"]
    for instance in users:
        assert instance["model"] == "pbm" and instance["kappa"][0] == 1.0
        click_bandits.models.PositionBased(instance["theta"], instance["kappa"])
    assert expected.instances("pbm", queries=["shoes"]) == users[2:]
    keys = {model: set(expected.instances(model)[0]) - {"name", "log"} for model in expected.models}
    assert keys == {model: {"model", *USERS[of].parameters} for model, of in FITTED.items()}
    assert expected.instances() == expected.instances(expected.report["users"])
    for wrong in [{"model": "dcn"}, {"queries": ["shoe"]}]:
        with pytest.raises(ValueError, match="did you mean"):
            expected.instances(**wrong)


def test_tables_for_other_libraries(expected):
    table = expected.parameters
    numpy = table.to_numpy()
    assert numpy["estimate"].dtype == np.float64 and numpy["position"].dtype == np.float64
    assert expected.counts["clicks"].dtype == np.int64 and len(numpy["estimate"]) == len(table)
    with pytest.raises(KeyError, match="did you mean `estimate`"):
        table["estimat"]
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(table).rows(named=True) == list(table)
    # Differences of counts do not wrap.
    assert table.to_polars()["clicks"].dtype == polars.Int64
    pyarrow = pytest.importorskip("pyarrow")
    assert pyarrow.table(table).to_pylist() == list(table)
    pandas = pytest.importorskip("pandas")
    assert pandas.DataFrame(numpy)["estimate"].tolist() == list(numpy["estimate"])


def changed(**columns):
    return {**{name: list(column) for name, column in LOG.items()}, **columns}


def with_value(name, row, value):
    column = list(LOG[name])
    column[row] = value
    return changed(**{name: column})


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (with_value("q", 5, None), "log: row 5, column `q`: nothing there"),
        (with_value("p", 7, -1), "log: row 7, column `p`: a negative number, found `-1`"),
        (with_value("p", 7, 0), "log: row 7, column `p`: .*first_position=0"),
        (with_value("p", 8, 65), "log: row 8, column `p`: .*, found `65`"),
        (with_value("p", 8, 1.5), "log: row 8, column `p`: expected a whole number, found `1.5`"),
        (with_value("i", 2, float("nan")), "log: row 2, column `i`: nothing there"),
        (with_value("c", 3, 1 << 41), "log: row 3, column `c`: .*, found `2199023255552`"),
        (with_value("c", 3, 2), "log: row 3, column `c`: .*clip_clicks=True"),
        (with_value("c", 3, -2), "log: row 3, column `c`: a negative number"),
        (changed(p=["one"] * 9000), "log: row 0, column `p`: expected a whole number, found `one`"),
        (changed(p=[1]), "column `p` has 1 rows and column `q` has 9000"),
        ({name: [] for name in LOG}, "no row to read"),
        (changed(c=np.zeros(9000, "M8[s]")), "row 0, column `c`: expected a whole number"),
        ({"q": ["a"], "i": [1], "p": [1], "clicks": [1]}, "log: no column `c`; the table has q, i, p, clicks"),
        (changed(i=np.zeros((9000, 2))), "column `i` holds lists"),
        ([__file__, __file__], "the same file twice: everything in it would be counted twice"),
    ],
)
def test_what_is_no_log_has_its_place(log, message):
    with pytest.raises(ValueError, match=message):
        fit(log, columns=COLUMNS)


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (changed(c=np.zeros(9000, "m8[s]")), "column `c` has type timedelta64"),
        (changed(c=np.zeros(9000, complex)), "column `c` has type complex128"),
        (with_value("q", 4, b"shoes"), "row 4, column `q`: expected a text or a whole number, found bytes"),
        (7, "expected a path, a list of paths, a table"),
        ([1, 2], "expected a list of paths, found int"),
    ],
)
def test_other_types(log, message):
    with pytest.raises(TypeError, match=message):
        fit(log, columns=COLUMNS)


def test_arrow_types():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow_table()
    for name, of in [("i", "int8"), ("i", "uint16"), ("p", "float32"), ("c", "uint64"), ("q", "large_string"), ("q", "string_view")]:
        place = table.column_names.index(name)
        try:
            other = table.set_column(place, name, table[name].cast(getattr(pyarrow, of)()))
        except (AttributeError, pyarrow.ArrowNotImplementedError):
            continue
        assert fit(other, columns=SESSIONS).to_json() == fit(LOG, columns=SESSIONS).to_json(), of
    lists = table.set_column(1, "i", pyarrow.array([[1]] * 9000))
    with pytest.raises(ValueError, match="column `i` holds lists"):
        fit(lists, columns=COLUMNS)
    nothing = table.set_column(1, "i", pyarrow.nulls(9000))
    with pytest.raises(ValueError, match="row 0, column `i`: nothing there"):
        fit(nothing, columns=COLUMNS)
    with pytest.raises(ValueError, match="no row to read"):
        fit(table[:0], columns=COLUMNS)
    keys = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, None] * 4500), pyarrow.array(["a"]))
    with pytest.raises(ValueError, match="row 1, column `q`: nothing there"):
        fit(table.set_column(0, "q", keys), columns=COLUMNS)


def test_a_column_of_polars_without_a_value():
    polars = pytest.importorskip("polars")
    frame = polars_frame().with_columns(nothing=None)
    assert frame.schema["nothing"] == polars.Null
    assert fit(frame, columns=SESSIONS).to_json() == fit(LOG, columns=SESSIONS).to_json()
    with pytest.raises(ValueError, match="row 0, column `c`: nothing there"):
        fit(frame.with_columns(c=None), columns=COLUMNS)


def test_sessions_with_too_many_clicks():
    above = int((LOG["c"].reshape(3000, 3).sum(axis=1) > 1).sum())
    report = fit(LOG, columns=SESSIONS, model="dcm", max_clicks=1).report
    assert above > 0 and (report["sessions"], report["sessions_left_out"]) == (3000 - above, above)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": "dcn"}, "model \"dcn\" is unknown: expected one of pbm, .*all; did you mean `dcm`"),
        ({"model": []}, "expected the name of a model"),
        ({"model": "dcm"}, "whole sessions"),
        ({"model": "dcm", "columns": SESSIONS, "positions": 2}, "`positions` cuts them short"),
        ({"columns": {"item": "i"}}, "`click` is missing"),
        ({"columns": {"itm": "i"}}, "`itm`: expected one of query"),
        ({"columns": None}, "`item` is missing.*; the table has q, i, p, c, s"),
        ({"format": "delimited"}, "of files: leave it out"),
        ({"format": "counts"}, "leave them out"),
        ({"first_position": 2}, "first_position: 2 is too large: expected an integer from 0 to 1"),
        ({"min_impressions": -1}, "min_impressions: -1 is negative: expected an integer of at least 0"),
        ({"min_items": 0}, "min_items: 0 is too small"),
        ({"positions": 65}, "positions: 65 is too large"),
        ({"max_clicks": 0}, "max_clicks: 0 is too small"),
        ({"max_clicks": 5}, "max_clicks: sessions of more than 5 clicks cannot be left out: the log has no sessions"),
        ({"scope": "all"}, "unknown scope \"all\""),
        ({"prior": float("nan")}, "prior: nan is not allowed: expected a finite number"),
        ({"max_skipped": 1.5}, "max_skipped: 1.5 found: expected a number from 0 to 1"),
        ({"max_skipped": "x", "threads": "y"}, "max_skipped: .*\nthreads: \"y\" found"),
        ({"held_out": 1}, "held_out: expected 0, an integer of at least 2 or `last`"),
        ({"seed": -1}, "seed: -1 is negative"),
        ({"threads": 0}, "threads: 0 is too small"),
        ({"min_impressions": 10**6}, "none of 3 queries has 1 items with 1000000 impressions"),
    ],
)
def test_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        fit(LOG, **{"columns": COLUMNS, **arguments})


def test_files_at_fault(tmp_path):
    with pytest.raises(FileNotFoundError):
        fit(tmp_path / "none.csv", format="counts")
    with pytest.raises(OSError, match="a directory"):
        fit(tmp_path, format="counts")
    path = as_csv(with_array("p", 4, 99), tmp_path / "log.csv")
    with pytest.raises(ValueError, match=r"log.csv:6: column 3 \(p\): .*, found `99`"):
        fit(path, format="delimited", columns=COLUMNS)
    with pytest.raises(ValueError, match="format: missing for files: expected one of kdd2012, .*counts$"):
        fit(path)
    with pytest.raises(ValueError, match="columns: missing for format \"delimited\""):
        fit(path, format="delimited")
    with pytest.raises(ValueError, match="defines its columns"):
        fit(path, format="yandex", columns=COLUMNS)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(ValueError, match="broken.parquet"):
        fit(tmp_path / "broken.parquet", format="parquet", columns=COLUMNS)


def with_array(name, row, value):
    column = LOG[name].copy()
    column[row] = value
    return {**LOG, name: column}


def test_rows_are_skipped_and_counted():
    fitted = fit(with_value("p", 4, 99), columns=COLUMNS, max_skipped=0.01, model="pbm")
    (skipped,) = fitted.report["skipped"].values()
    assert skipped["rows"] == 1 and fitted.report["rows"] == 9000 and fitted.counts["impressions"].sum() == 8999
    with pytest.raises(ValueError, match="would have to be skipped"):
        fit(with_value("p", 4, 99), columns=COLUMNS, max_skipped=0.0001)


def test_rows_that_stand_twice_are_left_out():
    twice = {name: np.repeat(column, 2) for name, column in LOG.items()}
    with pytest.raises(ValueError, match="max_skipped=0.5 leaves out rows that stand twice"):
        fit(twice, columns=SESSIONS)
    once, left_out = fit(LOG, columns=SESSIONS), fit(twice, columns=SESSIONS, max_skipped=0.5)
    assert left_out.report["impressions"] == 9000 and left_out.comparison == once.comparison


def test_the_lock_is_released():
    """Another thread continues counting while a log is read."""
    log = log_of_lists(lists=100_000)
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    # The first reading copies the arrays under the lock.
    before = counted[0]
    fit(log, columns=SESSIONS, model=["dbn", "ccm"])
    after = counted[0]
    done.set()
    thread.join()
    assert after - before > 20


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_a_fit():
    program = (
        "import numpy as np, click_bandits, sys\n"
        "n = 6_000_000\n"
        "random = np.random.default_rng(1)\n"
        "log = {'item': random.integers(0, 1 << 40, n), 'position': np.ones(n, int), 'click': np.zeros(n, int)}\n"
        "click_bandits.fit({name: column[:100] for name, column in log.items()}, model='pbm')\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    while True: click_bandits.fit(log, model='pbm')\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(7)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.7)
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 7
        finally:
            process.kill()


def test_masked_arrays_are_refused():
    click = np.ma.masked_array([1, 0, 1, 0], mask=[True, False, False, False])
    with pytest.raises(TypeError, match="column .click.: expected a plain array, got a masked one"):
        fit({"item": [0, 1, 0, 1], "position": [1, 1, 2, 2], "click": click}, model="pbm")


def test_nothing_held_out_and_no_intervals():
    whole = fit(LOG, columns=SESSIONS, model=["pbm", "dcm"])
    fast = fit(LOG, columns=SESSIONS, model=["pbm", "dcm"], held_out=0, intervals=False)
    assert whole.comparison is not None and fast.comparison is None and fast.transfer is None
    np.testing.assert_allclose(fast.parameters["estimate"], whole.parameters["estimate"], rtol=1e-6)
    assert np.isnan(fast.parameters["se"]).all() and not np.isnan(whole.parameters["se"]).all()
    # Without a choice, the users are those of the first model.
    assert fast.report["users"] == "pbm"
    for wrong in (1, -1, "first"):
        with pytest.raises(ValueError, match="held_out: "):
            fit(LOG, columns=SESSIONS, held_out=wrong)


def test_a_fit_scores_other_logs_by_name():
    # Click-through rates at one position, without priors: .6 and .2.
    log = {"item": ["a"] * 10 + ["b"] * 10, "position": [1] * 20, "click": [1] * 6 + [0] * 4 + [1] * 2 + [0] * 8}
    fitted = fit(log, model="pbm", prior=0, held_out=0)
    attraction = {row["item"]: row["estimate"] for row in fitted.parameters if row["kind"] == "attraction"}
    assert attraction == pytest.approx({"a": 0.6, "b": 0.2}, rel=1e-6)
    # Names that were not fitted come before and after "b" in the other log's order.
    for other, clicks in [(["b"] * 4, [1, 0, 0, 0]), (["b", "0", "zz", "b"], [1, 0, 0, 0]), (["a", "b"], [0, 1])]:
        week = {"item": other, "position": [1] * len(other), "click": clicks}
        known = [(attraction[item], click) for item, click in zip(other, clicks) if item in attraction]
        score = fitted.score({name: [row for row, item in zip(rows, other) if item in attraction] for name, rows in week.items()})
        expected = np.mean([np.log(p if click else 1 - p) for p, click in known])
        np.testing.assert_allclose(score["log_likelihood"], [expected] * 2, rtol=1e-6)
        np.testing.assert_allclose(score["perplexity"], np.exp(-score["log_likelihood"]), rtol=1e-9)
        assert score["impressions"].tolist() == [len(known)] * 2
        assert fitted.score(week)["impressions"].tolist() == [len(other)] * 2


def test_scores_are_those_of_the_comparison():
    """On the second half of a log, a fit of the first half has the scores of `held_out="last"`."""
    log = log_of_lists(lists=400)
    halves = [{name: rows[place] for name, rows in log.items()} for place in (slice(0, 600), slice(600, 1200))]
    models = ["pbm", "dcm", "dbn"]
    compared = fit(log, columns=SESSIONS, model=models, held_out="last").comparison
    scores = fit(halves[0], columns=SESSIONS, model=models, held_out=0).score(halves[1], columns=SESSIONS)
    rows = {row["model"]: row for row in scores if row["position"] is None}
    assert list(rows) == models
    for row in compared:
        if row["model"] in rows:
            for name in ("impressions", "log_likelihood", "perplexity", "conditional_perplexity"):
                assert rows[row["model"]][name] == pytest.approx(row[name], rel=1e-9)
    of_dcm = [row for row in scores if row["model"] == "dcm"]
    assert [row["position"] for row in of_dcm] == [None, 1, 2, 3]
    assert sum(row["impressions"] for row in of_dcm[1:]) == of_dcm[0]["impressions"] == 600
    mean = np.mean([row["perplexity"] for row in of_dcm[1:]])
    assert of_dcm[0]["perplexity"] == pytest.approx(mean)


def test_scores_that_a_log_does_not_support():
    fitted = fit(LOG, columns=SESSIONS, model=["dcm", "pbm"], held_out=0)
    assert set(fitted.score(LOG, columns=COLUMNS)["model"]) == {"pbm"}
    with pytest.raises(ValueError, match="predict whole sessions, and this log has none"):
        fit(LOG, columns=SESSIONS, model="dcm", held_out=0).score(LOG, columns=COLUMNS)
    with pytest.raises(ValueError, match="column"):
        fitted.score({"i": [1]}, columns=COLUMNS)
    with pytest.raises(ValueError, match="no row to read"):
        fitted.score({name: rows[:0] for name, rows in LOG.items()}, columns=SESSIONS)


def test_fits_are_compared_by_name():
    one, other = (fit(log_of_lists(seed=seed), columns=SESSIONS, model="pbm", held_out=0) for seed in (1, 2))
    rows = list(one.compare(other))
    assert len(rows) == len(one.parameters) == len(other.parameters)
    for row in rows:
        if row["difference"] is not None:
            assert row["difference"] == row["other"] - row["estimate"]
    apart = [row["difference"] / row["difference_se"] for row in rows if row["difference_se"]]
    assert len(apart) > 10 and max(map(abs, apart)) < 5
    # Items of one of the logs only.
    few = fit({"item": ["x", "4"] * 9, "position": [1] * 18, "click": [1, 0, 0] * 6}, model="pbm", held_out=0)
    rows = {row["item"]: row for row in few.compare(fit({"item": ["4"] * 9, "position": [1] * 9, "click": [1, 0, 0] * 3}, model="pbm"))}
    assert rows["x"]["other"] is None and rows["x"]["difference"] is None and rows["4"]["difference"] is not None
    with pytest.raises(ValueError, match="no model was fitted to both: pbm here, dcm there"):
        one.compare(fit(LOG, columns=SESSIONS, model="dcm", held_out=0))


def test_a_fit_is_its_copy():
    fitted = fit(LOG, columns=COLUMNS, model="pbm", held_out=0)
    assert copy.copy(fitted) is fitted and copy.deepcopy([fitted])[0] is fitted


def test_options_of_user_behavior_insights(tmp_path):
    queries, events = [], []
    for number in range(40):
        application = "shop" if number % 2 else "blog"
        queries.append({"query_id": str(number), "user_query": " Shoes" if number % 4 else "shoes", "application": application})
        for ordinal, item in enumerate("ab"):
            event = {"query_id": str(number), "application": application, "timestamp": f"2026-01-01T00:00:{number:02}Z"}
            shown = {"object": {"object_id": item}, "position": {"ordinal": ordinal + 1}}
            events.append({**event, "action_name": "view", "event_attributes": shown})
            if ordinal == number % 3:
                events.append({**event, "action_name": "click", "event_attributes": shown})
    paths = [tmp_path / "queries.ndjson", tmp_path / "events.ndjson"]
    for path, rows in zip(paths, (queries, events)):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = {"format": "ubi", "impression": "view", "position_base": 1}
    fitted = fit(paths, model="pbm", held_out=0, **options)
    assert (fitted.report["sessions"], fitted.counts["query"].tolist()[0]) == (40, "shoes")
    assert fit(paths, model="pbm", held_out=0, application="shop", **options).report["sessions"] == 20
    renamed = tmp_path / "renamed.ndjson"
    renamed.write_text(paths[1].read_text().replace('"click"', '"item_click"'))
    named = fit([paths[0], renamed], model="pbm", held_out=0, click="Item_Click", **options)
    assert named.counts["clicks"].tolist() == fitted.counts["clicks"].tolist()
    exact = fit(paths, model="pbm", held_out=0, exact_queries=True, **options)
    assert set(exact.counts["query"]) == {"shoes", " Shoes"}
    assert fitted.score(paths, **options)["impressions"][0] == 80
    ranking = {"query": ["shoes"] * 2, "position": [1, 2], "item": ["b", "a"]}
    assert evaluate(paths, ranking, model="none", **options).sentence
    with pytest.raises(ValueError, match="position_base: 2 is too large"):
        fit(paths, format="ubi", position_base=2)
    with pytest.raises(ValueError, match='only for format "ubi"'):
        fit(LOG, columns=COLUMNS, application="shop")
