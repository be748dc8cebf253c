"""`fit` of a log with contexts: the command's bytes from every source, refusals with their place, and
policies that begin where the log ends."""

import copy
import json
import os
import pickle
import subprocess

import numpy as np
import pytest

from click_bandits import ContextFit, Fitted, Live, Policy, fit

COLUMNS = {"session": "s", "user": "u", "item": "i", "position": "p", "click": "c"}
SEEN = {"segment": "g", "features": ["age", "visits"]}


def log_of_users(lists=1500, seed=1):
    """Lists of three of five items. Young users like the first ones, old ones the last; segment `b`
    likes item 2."""
    random = np.random.default_rng(seed)
    age, visits = random.integers(18, 80, lists), random.exponential(300.0, lists)
    segment = random.integers(0, 2, lists)
    item = np.concatenate([random.permutation(5)[:3] for _ in range(lists)])
    old = np.repeat((age - 49) / 18, 3)
    odds = -1.0 + old * (item - 2) + 2.0 * (np.repeat(segment, 3) & (item == 2))
    click = (random.random(3 * lists) < 1 / (1 + np.exp(-odds))).reshape(lists, 3)
    # As of a cascade: the first click ends it.
    click &= np.cumsum(click, axis=1) == 1
    return {
        "s": np.repeat(np.arange(lists), 3),
        "u": np.repeat(np.arange(lists) // 3, 3),
        "i": np.array(["v", "w", "x", "y", "z"], dtype=object)[item],
        "p": np.tile([1, 2, 3], lists),
        "c": click.ravel(),
        "g": np.repeat(np.array(["a", "b"], dtype=object)[segment], 3),
        "age": np.repeat(age, 3),
        "visits": np.repeat(visits, 3),
    }


LOG = log_of_users()
ITEMS = {"item": ["v", "w", "x", "y", "z"], "price": [1.0, 2.5, 3.0, 9.0, 10.0]}


def as_csv(log, path):
    columns = [np.asarray(column) for column in log.values()]
    columns = [column.astype(int) if column.dtype == bool else column for column in columns]
    with open(path, "wt") as file:
        file.write(",".join(log) + "\n")
        file.writelines(",".join(map(str, row)) + "\n" for row in zip(*columns))
    return path


@pytest.fixture(scope="module")
def fitted():
    return fit(LOG, columns=COLUMNS, model="cascade", items=ITEMS, **SEEN)


def test_every_source_of_the_log_gives_the_same_bytes(tmp_path, fitted):
    assert isinstance(fitted, ContextFit)
    path, items = as_csv(LOG, tmp_path / "log.csv"), as_csv(ITEMS, tmp_path / "items.csv")
    given = {"columns": COLUMNS, "model": "cascade", **SEEN}
    sources = [(path, {"format": "delimited", "items": items}), (str(path), {"format": "delimited", "items": ITEMS})]
    for module in ("pandas", "polars", "pyarrow"):
        try:
            table = getattr(__import__(module), "table" if module == "pyarrow" else "DataFrame")
        except ImportError:
            continue
        sources.append((table({**LOG, "g": list(LOG["g"]), "i": list(LOG["i"])}), {"items": table(ITEMS)}))
    # Columns of their own name.
    keys = {column: key for key, column in COLUMNS.items()}
    sources.append(({keys.get(name, name): column for name, column in LOG.items()}, {"columns": None, "items": items}))
    for log, options in sources:
        assert fit(log, **{**given, **options}).to_json() == fitted.to_json()
    assert fit(LOG, columns=COLUMNS, model="cascade", items=ITEMS, seed=2, **SEEN).to_json() != fitted.to_json()


@pytest.mark.skipif("CLICK_BANDITS" not in os.environ, reason="CLICK_BANDITS names the program click-bandits, built from the root")
@pytest.mark.parametrize("model", ["cascade", "dcm", "pbm"])
def test_the_command_writes_the_same_bytes(tmp_path, model):
    path, items, out = as_csv(LOG, tmp_path / "log.csv"), as_csv(ITEMS, tmp_path / "items.csv"), tmp_path / "out"
    named = ",".join(f"{key}={column}" for key, column in COLUMNS.items()) + ",segment=g,features=age;visits"
    line = [os.environ["CLICK_BANDITS"], "fit", path, "--format", "delimited", "--columns", named, "--context"]
    line += ["--model", model, "--items", items, "--held-out", "5", "--seed", "7", "--ablate", "--out", out, "--quiet"]
    subprocess.run(line, check=True)
    fitted = fit(LOG, columns=COLUMNS, model=model, items=ITEMS, held_out=5, seed=7, ablate=True, **SEEN)
    assert (out / "context.json").read_bytes() == fitted.to_json()
    assert ContextFit.load(out).to_json() == fitted.to_json()


def test_what_the_log_tells(fitted):
    assert (fitted.model, fitted.query, fitted.lists, fitted.positions) == ("cascade", None, 1500, 3)
    assert sorted(fitted.items) == ITEMS["item"] and sorted(fitted.segments) == ["a", "b"]
    assert (fitted.user_features, fitted.item_features) == (("age", "visits"), ("price",))
    report = fitted.report
    assert report["gain"]["lower"] > 0 and report["log_loss"] < report["log_loss_without"] and report["columns"] == []
    assert report["clicks"]["personal"] > report["clicks"]["best_list"]
    assert repr(fitted) == "ContextFit(model='cascade', lists=1500, items=5, segments=2, user_features=2, item_features=1)"
    assert fitted.skipped == {}
    ablated = fit(LOG, columns=COLUMNS, model="cascade", items=ITEMS, ablate=True, **SEEN).report["columns"]
    gains = {of["column"]: of["gain"] for of in ablated}
    assert gains["age"]["lower"] > 0 > gains["visits"]["lower"]


def test_it_is_saved_and_read(tmp_path, fitted):
    fitted.save(tmp_path)
    fitted.save(tmp_path / "other.json")
    for same, skipped in (
        (ContextFit.load(tmp_path), None),
        (ContextFit.load(str(tmp_path / "other.json")), None),
        (ContextFit.from_json((tmp_path / "context.json").read_bytes()), None),
        (pickle.loads(pickle.dumps(fitted)), {}),
        (copy.deepcopy(fitted), {}),
    ):
        assert same.to_json() == fitted.to_json() and same.report == fitted.report
        assert same.skipped == skipped
    record = json.loads(fitted.to_json())
    with pytest.raises(ValueError, match="version: 9 found: expected 1"):
        ContextFit.from_json(json.dumps({**record, "version": 9}).encode())
    with pytest.raises(ValueError, match="items: 1 found: expected 5, as the prior has"):
        ContextFit.from_json(json.dumps({**record, "items": ["v"]}).encode())
    with pytest.raises(FileNotFoundError, match="none.json"):
        ContextFit.load(tmp_path / "none.json")


@pytest.mark.parametrize("model", ["cascade", "dcm", "pbm"])
def test_a_policy_begins_where_the_log_ends(tmp_path, model):
    fitted = fit(LOG, columns=COLUMNS, model=model, items=ITEMS, **SEEN)
    policy = Policy.from_fit(fitted, seed=1)
    assert (policy.name, policy.model, policy.items, policy.sizes) == ("hybrid-ts", model, fitted.items, (5, 3))
    segment = fitted.segments.index("a")
    first = lambda age: {policy.select(features=[age, 300.0], segment=segment).action[0] for _ in range(20)}
    assert first(20) <= {"v", "w"} and first(79) <= {"y", "z"}
    # The same, put together by hand.
    fitted.save(tmp_path)
    price = dict(zip(ITEMS["item"], ITEMS["price"]))
    known = {
        "items": fitted.items,
        "item_features": [[price[item]] for item in fitted.items],
        "user_features": 2,
        "segments": 2,
        **({"positions": 3} if model != "pbm" else {"examination": json.loads(fitted.to_json())["of_positions"]}),
    }
    user = {"features": [33.0, 1e3], "segment": 1}
    expected = policy.scores(**user)["mean"]
    for prior in (fitted, tmp_path, tmp_path / "context.json"):
        other = Policy("hybrid-ts", model, prior=prior, seed=1, **known)
        assert other.scores(**user)["mean"] == pytest.approx(expected)
    fresh = Policy("hybrid-ts", model, seed=1, **known)
    assert fresh.scores(**user)["mean"] != pytest.approx(expected)
    # It learns on, and keeps its scale.
    copied = pickle.loads(pickle.dumps(policy))
    decision = policy.select(**user)
    for one in (policy, copied):
        one.update(decision, [True, False, False])
    assert (policy.scores(**user)["mean"] == copied.scores(**user)["mean"]).all()
    assert (policy.scores(**user)["mean"] != expected).any()


def test_what_does_not_go_with_a_fit(fitted):
    known = {"items": fitted.items, "positions": 3, "user_features": 2, "segments": 2}
    known["item_features"] = [[ITEMS["price"][ITEMS["item"].index(item)]] for item in fitted.items]
    turned = {**known, "items": fitted.items[::-1]}
    hybrid = lambda prior, **given: Policy("hybrid-ts", "cascade", prior=prior, **{**known, **given})
    cases = [
        (lambda: hybrid(fitted, **turned), "prior: item 0 is '?.*, that of the fit "),
        (lambda: hybrid(fitted, user_features=1), "features of users"),
        (lambda: hybrid(fitted, segments=3), "segments"),
        (lambda: hybrid((1, 1)), "begins with a ContextFit, or with its file"),
        (lambda: Policy("cascade-ts", "cascade", items=5, positions=3, prior=fitted), "a ContextFit is for `hybrid-ts`"),
        (lambda: Policy.from_fit(fitted, policy="cascade-ts"), "sees no contexts"),
        (lambda: Policy.from_fit(fitted, model="pbm"), 'model is "pbm": that of the fit is "cascade"'),
        (lambda: Policy.from_fit(fitted, "shoes"), 'query is "shoes": that of the fit is "none"'),
        (lambda: Policy.from_fit(fitted, interactions=False), "interactions|shared"),
    ]
    for call, message in cases:
        with pytest.raises((ValueError, TypeError), match=message):
            call()
    with pytest.raises(ValueError, match=r"features: expected shape \(2,\), got \(3,\)"):
        Policy.from_fit(fitted).select(features=[1.0, 2.0, 3.0], segment=0)
    with pytest.raises(TypeError, match="fitted: expected the result of fit"):
        Policy.from_fit({})


def changed(column, row, value):
    values = np.array(LOG[column], dtype=object if isinstance(value, str) else None)
    values[row] = value
    return {**LOG, column: values}


def test_refusals_name_the_place(tmp_path):
    given = {"columns": COLUMNS, "model": "cascade", **SEEN}
    without = {key: column for key, column in COLUMNS.items() if key != "session"}
    cases = [
        ((changed("visits", 4, np.nan), {}), "log: row 4, column `visits`: nothing there"),
        ((changed("visits", 4, np.inf), {}), "log: row 4, column `visits`: expected a finite number"),
        ((changed("age", 4, 3), {}), "log: row 4, column `age`: another value than in the first line of the list"),
        ((changed("g", 4, "b" if LOG["g"][4] == "a" else "a"), {}), "row 4, column `g`: another value"),
        (({**LOG, "age": [30] * 4500}, {}), "user feature `age`: constant, so it tells nothing"),
        ((LOG, {"columns": without}), "`session` is missing"),
        ((LOG, {"features": ["shoe"]}), "no column `shoe`"),
        ((LOG, {"features": ["age;visits"]}), "without `;`"),
        ((LOG, {"columns": {**COLUMNS, "query": "g"}, "segment": None}), "query: missing"),
        ((LOG, {"columns": {**COLUMNS, "features": "age"}}), "columns: `segment` and `features` are arguments of fit"),
        ((LOG, {"model": "all"}), 'model: expected one of "cascade", "dcm" and "pbm"'),
        ((LOG, {"held_out": 0}), "held_out is 0"),
        ((LOG, {"held_out": "last"}), "held_out is"),
        ((LOG, {"threads": 2}), "threads: not with segment, features or items"),
        ((LOG, {"segment": None, "features": None, "ablate": True}), "ablate: only with"),
        ((LOG, {"items": {"item": ["v"], "price": [1.0]}}), "an item without a row in the table of items"),
        ((LOG, {"items": {**ITEMS, "price": [1, 2, 3, 4, np.inf]}}), "items: row 4, column `price`: expected a finite"),
        ((LOG, {"items": {**ITEMS, "price": [1, 2]}}), "items: column `price` has 2 rows and column `item` has 5"),
        ((LOG, {"items": {**ITEMS, "item": ["v", "w", "v", "y", "z"]}}), "items: row 2, column `item`: \"v\" is there twice"),
        ((LOG, {"items": {"price": [1.0]}}), "items: no column `item`"),
        ((LOG, {"items": 7}), "items: expected"),
    ]
    for (log, options), message in cases:
        with pytest.raises((ValueError, TypeError), match=message):
            fit(log, **{**given, **options})
    path = as_csv(changed("age", 4, 3), tmp_path / "log.csv")
    with pytest.raises(ValueError, match=r"log.csv:6: column 7 \(age\): another value"):
        fit(path, format="delimited", **given)
    with pytest.raises(FileNotFoundError, match="items.csv"):
        fit(LOG, items=tmp_path / "items.csv", **given)


def test_rows_at_fault_are_skipped_and_counted():
    given = {"columns": COLUMNS, "model": "cascade", **SEEN}
    fitted = fit(changed("visits", 4, np.inf), max_skipped=0.01, **given)
    assert sum(fitted.skipped.values()) == 2 and fitted.lists == 1500
    with pytest.raises(ValueError, match="max_skipped: 2.0 found: expected a number from 0 to 1"):
        fit(LOG, max_skipped=2.0, **given)
    assert isinstance(fit(LOG, columns=COLUMNS, model="cascade"), Fitted)


def test_live_use_begins_where_the_log_ends(tmp_path, fitted):
    fitted.save(tmp_path)
    for prior in (fitted, tmp_path, str(tmp_path / "context.json")):
        live, policy = Live("hybrid-ts", prior=prior, seed=3), Policy.from_fit(fitted, seed=3)
        assert sorted(live.items) == ITEMS["item"]
        for visit in range(60):
            user = {"features": [20.0 + visit, 10.0 * visit], "segment": visit % 2}
            decision = policy.select(**user)
            assert live.decide(visit, **user) == list(decision.action)
            click = visit % 4
            policy.update(decision, [position == click for position in range(3)])
            if click < 3:
                live.click(visit, click)
            live.close(visit)
            if visit == 30:
                live = Live.load(live.save())
    # Other positions, and items of today: one of the log is gone, one is new.
    features = dict(zip(ITEMS["item"], ITEMS["price"]))
    today = {item: [price] for item, price in features.items() if item != "v"} | {"new": [4.0]}
    live = Live("hybrid-ts", "cascade", positions=2, items=today, prior=fitted, seed=3)
    assert sorted(live.items) == sorted(today) and len(live.decide(1, features=[30, 20], segment=0)) == 2
    assert live.add("v") and sorted(live.items) == sorted([*today, "v"])
    assert sorted(Live("hybrid-ts", items=["v", "w", "x"], prior=fitted).items) == ["v", "w", "x"]


def test_a_fit_that_live_use_cannot_begin_with_is_refused(tmp_path, fitted):
    def refused(message, *args, prior=fitted, **given):
        with pytest.raises(ValueError, match=message):
            Live(*(args or ["hybrid-ts"]), prior=prior, **given)

    refused('model is "dcm": that of the fit is "cascade"', "hybrid-ts", "dcm")
    refused("segments is 3: the fit has 2", segments=3)
    refused('query is "shoe": that of the fit is "none"', query="shoe")
    refused("user_features is 1: the fit has 2", user_features=1)
    refused("item_features is 2: the fit has 1", item_features=2)
    refused("items: 'w' has other features|items: \"w\" has other features", items={"w": [7.0]})
    refused(r"the features of an item are \[\]: expected 1", items=["other"])
    refused("9 positions|positions", positions=9)
    refused("interactions", interactions=False)
    refused("a ContextFit is for `hybrid-ts`, not `cascade-ts`", "cascade-ts", "cascade", positions=2)
    refused("begins with a ContextFit", prior=(1.0, 9.0))
    record = json.loads(fitted.to_json())
    record["prior"]["shared"]["mean"][0] = 1e300
    (tmp_path / "context.json").write_text(json.dumps(record))
    refused(r"context.json: prior.shared.mean\[0\]: 1e\+300 found", prior=tmp_path)
    live = Live("hybrid-ts", prior=fitted)
    with pytest.raises(ValueError, match="features: 1 numbers, expected 2 finite ones"):
        live.decide(1, features=[0.5], segment=0)
