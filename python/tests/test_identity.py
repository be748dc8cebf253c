"""One identity of an item, from a log to a list: ids keep their type; names that are not known."""

import json
import pickle
import warnings

import numpy as np
import pytest
from click_bandits import Batch, ContextFit, Decision, Fitted, Live, Policy, fit, models


def log(ids, rows=4000, queries=None, seed=1):
    """Lists of three of the items, the first of which attract most."""
    random = np.random.default_rng(seed)
    n = len(ids)
    lists = np.array([random.permutation(n)[:3] for _ in range(rows // 3)])
    clicks = random.random(lists.shape) < (0.6 / (1 + lists)) * [1.0, 0.6, 0.4]
    table = {
        "item": [ids[item] for item in lists.ravel().tolist()],
        "position": np.tile([1, 2, 3], len(lists)),
        "click": clicks.ravel().astype(int),
    }
    if queries is not None:
        table["query"] = np.repeat([queries[row % len(queries)] for row in range(len(lists))], 3)
    return table


def types(names):
    return {type(name) for name in names}


def fitted_live(fitted, **arguments):
    live = Live("pbm-ts", positions=3, examination=[1.0, 0.6, 0.4], seed=1, **arguments)
    live.begin_with(fitted)
    return live


@pytest.mark.parametrize("items", [None, [0, 1, 2]])
def test_a_sold_out_item_is_not_shown(items):
    live = fitted_live(fit(log([3, 7, 0, 1, 2]), model="pbm"), items=items)
    assert types(live.items) == {int} and set(live.items) == {0, 1, 2, 3, 7}
    assert not live.add(3)
    for visit in range(100):
        shown = live.decide(visit, except_=[3])
        assert 3 not in shown and len(set(shown)) == 3
    live = pickle.loads(pickle.dumps(live))
    assert types(live.items) == types(Live.load(live.save()).items) == {int}
    assert sum(3 in live.decide(f"visit {visit}") for visit in range(100)) > 50


def frames(table):
    """The same table in every kind of frame."""
    yield "dict", table
    yield "records", [dict(zip(table, row)) for row in zip(*(np.asarray(column).tolist() for column in table.values()))]
    yield "objects", {**table, "item": np.array(table["item"], dtype=object)}
    for library in ("pandas", "polars", "pyarrow"):
        try:
            module = __import__(library)
        except ImportError:
            continue
        frame = module.table(table) if library == "pyarrow" else module.DataFrame(table)
        yield library, frame
        if library == "polars":
            yield "lazy", frame.lazy()
        if library == "pandas":
            yield "category", frame.assign(item=frame["item"].astype("category"))
            yield "uint8", frame.assign(item=frame["item"].astype("uint8" if isinstance(table["item"][0], int) else "string"))


@pytest.mark.parametrize("ids", [[3, 7, 0, 1, 2], ["3", "7", "0", "1", "2"], ["a", "b", "c", "d", "e"]])
def test_ids_keep_their_type_everywhere(ids, tmp_path):
    of, table = type(ids[0]), log(ids)
    lists, clicks = np.array(table["item"]).reshape(-1, 3), table["click"].reshape(-1, 3)
    for kind, frame in frames(table):
        fitted = fit(frame, model="pbm")
        assert types(fitted.parameters["item"].tolist()) - {type(None), float} == {of}, kind
        assert types(fitted.counts["item"].tolist()) == {of}, kind
        assert types(fit(fitted.counts, format="counts", model="pbm").counts["item"].tolist()) == {of}
        fitted.save(tmp_path)
        for same in (fitted, pickle.loads(pickle.dumps(fitted)), Fitted.load(tmp_path), Fitted.from_json(fitted.to_json())):
            assert types(same.instances()[0]["log"]["items"]) == {of}, kind
            assert types(same.compare(fitted)["item"].tolist()) - {type(None), float} == {of}
        policy = Policy.from_fit(fitted, seed=1)
        policy.learn(lists, clicks)
        for same in (policy, pickle.loads(pickle.dumps(policy)), Policy.load(policy.save())):
            assert set(same.items) == set(ids) and types(same.items) == {of}, kind
            decision, batch = same.select(), same.select_batch(4)
            assert types(Decision.from_json(decision.to_json()).action) == {of}
            assert types(batch.actions.ravel().tolist()) == {of} == types(Batch.from_json(batch.to_json()).actions.ravel().tolist())
            same.learn(batch.actions, np.zeros((4, 3), int))
            assert [list(one.action) for one in batch] == batch.actions.tolist()
            assert [[same.items[number] for number in row] for row in batch.numbers] == batch.actions.tolist()
        live = fitted_live(fitted)
        assert set(live.items) == set(ids) and types(live.items) == {of}, kind
    written = json.loads(fitted.to_json())
    assert written.get("item_type") == ("integer" if of is int else None)
    assert {item["item"] for item in written["models"][0]["queries"][0]["items"]} == {str(name) for name in ids}
    # A file of before has no types: texts.
    written.pop("item_type", None)
    assert types(Fitted.from_json(json.dumps(written).encode()).instances()[0]["log"]["items"]) == {str}


def test_a_column_that_mixes_types_is_refused(tmp_path):
    mixed = log([1, "1", "a", 2, 3])
    for kind in ("list", "object", "records"):
        table = {**mixed, "item": np.array(mixed["item"], dtype=object)} if kind != "list" else mixed
        if kind == "records":
            table = [dict(zip(table, row)) for row in zip(*table.values())]
        with pytest.raises(ValueError, match="`item`: mixes whole numbers and texts"):
            fit(table, model="pbm")
    with pytest.raises(ValueError, match="`query`: mixes whole numbers and texts"):
        fit({**log([1, 2, 3]), "query": np.array([7, "7", "7"] * 1333, dtype=object)}, model="pbm")
    with pytest.raises(ValueError, match="`item`: mixes"):
        fit({**mixed, "session": np.arange(3999) // 3, "age": np.arange(3999) // 3}, model="cascade", features=["age"])
    arrow = pytest.importorskip("pyarrow")
    parts = [arrow.table(log(ids, rows=300)) for ids in ([1, 2, 3], ["1", "2", "3"])]
    for part, name in zip(parts, ("one", "other")):
        __import__("pyarrow.parquet").parquet.write_table(part, tmp_path / name)
    with pytest.raises(ValueError, match="`item` mixes whole numbers and texts"):
        fit([tmp_path / "one", tmp_path / "other"], format="parquet", columns={name: name for name in parts[0].column_names})


def test_queries_have_types_too():
    fitted = fit(log([1, 2, 3, 4], queries=[10, 20]), model="pbm")
    assert set(fitted.counts["query"].tolist()) == {10, 20}
    assert [users["name"] for users in fitted.instances(queries=[20])] == ["20"]
    assert Policy.from_fit(fitted, 10, seed=1).items == (1, 2, 3, 4)
    live = Live("pbm-ts", positions=2, examination=[1.0, 0.6], seed=1)
    assert live.begin_with(fitted, query=np.int64(20)) == 4
    for wrong in (lambda: Policy.from_fit(fitted, "10"), lambda: fitted.instances(queries=["10"]), lambda: live.begin_with(fitted, "10")):
        with pytest.raises(TypeError, match="query is \"10\", which is of another type"):
            wrong()
    texts = fit(log([1, 2, 3, 4], queries=["10", "20"]), model="pbm")
    assert Policy.from_fit(texts, "10", seed=1).items == (1, 2, 3, 4)
    with pytest.raises(TypeError, match="query is 10, which is of another type than the log's queries"):
        Policy.from_fit(texts, 10)
    assert Policy("pbm-ts", items=2, examination=[1.0], prior=fitted, query=10).items == (0, 1)


@pytest.mark.parametrize("argument", ["only", "except_"])
def test_names_that_are_not_known_are_ignored_with_a_warning(argument):
    def live():
        return Live("cascade-ts", "cascade", positions=2, items=["a", "b", "c"], seed=1)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = live().decide(1, **{argument: ["a", "b"]})
        with pytest.raises(UserWarning, match=f'{argument}: "x" is no item, and is ignored'):
            live().decide(1, **{argument: ["a", "x", "b"]})
    with pytest.warns(UserWarning, match=f'{argument}: "x" is no item, and is ignored'):
        assert live().decide(1, **{argument: ["a", "x", "b", "y"]}) == expected
    policy = live()
    policy.retire("c")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        policy.decide(1, **{argument: ["a", "c"]})
    policy.forget("c")
    with pytest.warns(UserWarning, match=f'{argument}: "c" is no item'):
        policy.decide(2, **{argument: ["a", "c"]})


@pytest.mark.parametrize("argument", ["only", "except_"])
def test_names_of_another_type_are_refused(argument):
    for items, wrong, shown in [
        ([1, 2, 3], "3", '"3"'),
        ([1, 2, 3], "x", '"x"'),
        (["1", "2", "3"], 3, "3"),
        (["a", "b", 3], "3", '"3"'),
    ]:
        live = Live("cascade-ts", "cascade", positions=2, items=items, seed=1)
        with pytest.raises(TypeError, match=f"{argument}: {shown} is of another type than the items"):
            live.decide(1, **{argument: [items[0], wrong]})
        assert live.propensities(1) is None
    for wrong in (True, np.bool_(True), 2.5, float("nan"), None, (1,), b"1"):
        with pytest.raises(TypeError, match=f"{argument}: expected an int or a str, got"):
            Live("cascade-ts", "cascade", positions=2, items=[1, 2, 3], seed=1).decide(1, **{argument: [wrong]})


def test_numbers_of_any_kind_are_ints():
    live = Live("cascade-ts", "cascade", positions=2, items=[1, np.int32(2), 3.0, np.float32(4), np.uint64(5)], seed=1)
    assert live.items == [1, 2, 3, 4, 5] and types(live.items) == {int}
    assert set(live.decide(1, only=np.array([3.0, 4.0]))) == {3, 4}
    assert live.decide(np.float64(1.0)) == live.decide(1)
    with pytest.raises(ValueError, match="item is 9223372036854775808"):
        live.add(2**63)


def test_a_name_is_there_once():
    for items, error, words in [
        (["a", "a"], ValueError, r'items\[1\] is "a", which is there before'),
        ([1, 1.0], ValueError, r"items\[1\] is 1, which is there before"),
        ([True, 1], TypeError, "items: expected an int or a str, got <class 'bool'>"),
        ([1, "1"], TypeError, 'item is "1", and there is 1: give all items one type'),
        (["1", 1], TypeError, 'item is 1, and there is "1"'),
    ]:
        with pytest.raises(error, match=words):
            Live("cascade-ts", "cascade", positions=1, items=items)
    for items, words in [
        ([1, "1", 2], r"items\[1\] is '1', and there is 1: give all items one type"),
        (["2", 1, 2], r"items\[0\] is '2', and there is 2"),
        ([True, 1, 2], r"items\[1\] is 1, as items\[0\]"),
    ]:
        with pytest.raises(ValueError, match=words):
            Policy("cascade-ts", "cascade", items=items, positions=1)
    live = Live("cascade-ts", "cascade", positions=1, items=[1, 2])
    with pytest.raises(TypeError, match='item is "2", and there is 2'):
        live.add("2")
    policy = Policy("cascade-ts", "cascade", items=[0, 1], positions=1, seed=1)
    with pytest.raises(ValueError, match=r"items\[0\]\[0\] is '1', which is no item of the policy"):
        policy.learn([["1"]], [[0]])


def test_a_fit_of_another_type_is_refused_and_changes_nothing():
    ints, texts = (fit(log(ids), model="pbm") for ids in ([1, 2, 3, 4], ["1", "2", "3", "04"]))
    live = Live("pbm-ts", positions=2, examination=[1.0, 0.6], items=["1", "x"], seed=1)
    with pytest.raises(TypeError, match="item: 1 is of another type than the items"):
        live.begin_with(ints)
    live = Live("pbm-ts", positions=2, examination=[1.0, 0.6], items=[1, 9], seed=1)
    before = live.save()
    # "04" is the name of no int.
    with pytest.raises(TypeError, match='item: "04" is of another type than the items'):
        live.begin_with(texts)
    assert live.save() == before
    # The names of a text file have no type: they take that of the items.
    live.begin_with(fit(log(["1", "2", "3", "4"]), model="pbm"))
    assert set(live.items) == {1, 2, 3, 4, 9}
    large = log([2**63 + 5, 2**64 - 1, 3])
    large = fit({**large, "item": np.array(large["item"], dtype="uint64")}, model="pbm")
    assert set(large.counts["item"].tolist()) == {2**63 + 5, 2**64 - 1, 3} == set(Policy.from_fit(large).items)
    # Rows of examination have no item.
    assert {item for item in large.parameters["item"].tolist() if item is not None} == {2**63 + 5, 2**64 - 1, 3}
    with pytest.raises(ValueError, match="item is [0-9]+: expected an int of 64 bits"):
        Live("pbm-ts", positions=2, examination=[1.0, 0.6]).begin_with(large)


def test_names_in_an_answer_have_the_type_of_the_log():
    random = np.random.default_rng(1)
    lists = np.argsort(random.random((3000, 3)))
    clicks = random.random((3000, 3)) < np.array([0.5, 0.3, 0.1])[lists] * [0.4, 0.7, 1.0]
    rows = {"session": np.repeat(np.arange(3000), 3), "position": np.tile([1, 2, 3], 3000), "click": clicks.ravel().astype(int)}
    for name in (int, str):
        items = [name(10 + item) for item in lists.ravel()]
        fitted = fit({**rows, "query": [name(7)] * 9000, "item": items}, model="pbm")
        [query] = fitted.answer(threads=1)["queries"]
        shown = query["recommended"]["items"]
        assert query["query"] == name(7) and set(shown) == {name(10), name(11), name(12)}
        policy = Policy.from_fit(fitted, query=query["query"])
        live = Live("pbm-ts", items=policy.items, examination=[1.0, 0.7, 0.4])
        assert live.show("seen", shown) == "counted" and set(live.decide("v", only=shown)) == set(shown)


def test_a_name_of_another_type_than_the_items_is_refused_everywhere():
    live = Live("pbm-ts", items=[10, 11], examination=[1.0, 0.7])
    for call in [
        lambda: live.add("8"),
        lambda: live.retire("10"),
        lambda: live.show("w", ["10"]),
        lambda: live.decide("w", values={"10": 1.0}),
        lambda: live.decide("w", pins={0: "10"}),
        lambda: Live("pbm-ts", items=[10], examination=[1.0], values={"10": 1.0}),
    ]:
        with pytest.raises(TypeError, match='"(8|10)" is of another type than the items'):
            call()
    with pytest.raises(KeyError, match="12 is no item"):
        live.retire(12)
    live.forget(10), live.forget(11)
    assert live.add("hat") and live.items == ["hat"]


def test_a_decision_asked_again_with_other_items():
    live = Live("cascade-ts", "cascade", positions=2, items=["a", "b", "c", "d"], seed=1)
    shown = live.decide("v", only=["a", "b"])
    assert live.decide("v") == live.decide("v", only=["b", "a", "c"]) == live.decide("v", except_=["d"]) == shown
    for other in ({"only": ["c", "d"]}, {"only": ["a"]}, {"except_": ["b"]}):
        with pytest.warns(UserWarning, match='decision "v" was made before, with "[ab]", which is ruled out now'):
            assert live.decide("v", **other) == shown
    live.retire("a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert live.decide("v") == live.decide("v", only=["a", "b"]) == shown


def personal(segments=("at", "de"), **columns):
    random = np.random.default_rng(1)
    age = random.integers(18, 80, size=600)
    country = random.choice(segments, size=600)
    table = {
        "session": np.repeat(np.arange(600), 2),
        "item": np.tile(["shoe", "hat"], 600),
        "position": np.tile([1, 2], 600),
        "click": np.column_stack([age < 45, age >= 45]).ravel(),
        "country": np.repeat(country, 2),
        "age": np.repeat(age, 2),
    }
    return {**table, **columns}


def test_segments_and_features_by_name(tmp_path):
    fitted = fit(personal(), model="cascade", segment="country", features=["age"])
    number = fitted.segments.index("de")

    def policies():
        policy = Policy.from_fit(fitted, seed=1)
        known = {"items": fitted.items, "positions": 2, "user_features": 1, "segments": 2, "seed": 1}
        begun = Policy("hybrid-ts", "cascade", prior=fitted, **known)
        return policy, begun, pickle.loads(pickle.dumps(policy)), Policy.load(policy.save())

    for by_name, by_number in zip(policies(), policies()):
        for age in (20, 70, 30):
            by_name.select(features={"age": age}, segment="de") == by_number.select(features=[age], segment=number)
        batches = by_name.select_batch(2, features={"age": [20, 70]}, segments=["de", "at"]), by_number.select_batch(
            2, features=[[20], [70]], segments=[number, 1 - number]
        )
        assert batches[0] == batches[1]
        by_name.learn([fitted.items], [[1, 0]], features={"age": [20]}, segments=["at"])
        by_number.learn([fitted.items], [[1, 0]], features=[[20]], segments=[1 - number])
        assert by_name.save() == by_number.save()
        assert by_name.recommend(features={"age": 20}, segment="at") == ["shoe", "hat"]
        assert by_name.recommend(features=[75], segment=0) == ["hat", "shoe"]
        assert by_name.save() == by_number.save()
    one, other = (Live("hybrid-ts", prior=fitted, seed=1) for _ in range(2))
    one = Live.load(one.save())
    for visit in range(20):
        assert one.decide(visit, features={"age": 30}, segment="de") == other.decide(visit, features=[30], segment=number)
    assert one.show("shown", ["hat"], features={"age": 30}, segment="at") == "counted"
    policy = Policy.from_fit(fitted, seed=1)
    for wrong, error, words in [
        ({"features": {"agee": 3}, "segment": 0}, ValueError, "features: no feature 'agee'; did you mean 'age'"),
        ({"features": {}, "segment": 0}, ValueError, "features: feature 'age' is missing"),
        ({"features": {"age": "old"}, "segment": 0}, TypeError, "features: expected"),
        ({"features": {"age": float("nan")}, "segment": 0}, ValueError, "features.* is NaN"),
        ({"features": [30]}, TypeError, "missing segment"),
    ]:
        with pytest.raises(error, match=words):
            policy.select(**wrong)
    plain = Policy("hybrid-ts", "cascade", items=2, positions=1, user_features=1, segments=2)
    for wrong, words in [({"features": {"age": 3}, "segment": 0}, "no names of features"), ({"features": [3], "segment": "at"}, "no names of segments")]:
        with pytest.raises(TypeError, match=words):
            plain.select(**wrong)
    assert len(plain.recommend(features=[0.3], segment=1)) == 1


def test_a_segment_that_the_log_did_not_have():
    fitted = fit(personal(), model="cascade", segment="country", features=["age"])
    policy, live = Policy.from_fit(fitted, seed=1), Live("hybrid-ts", prior=fitted, seed=1)
    with pytest.warns(UserWarning, match="segment: 'fr': the log had no such segment, and it has no effect"):
        assert policy.scores(features=[30], segment="fr")["mean"].tolist() == policy.scores(features=[30], segment=99)["mean"].tolist()
    with pytest.warns(UserWarning, match="segment: 'fr': the log had no such segment"):
        assert sorted(live.decide(1, features=[30], segment="fr")) == ["hat", "shoe"]
    with pytest.warns(UserWarning, match="segments: 'fr' and 1 more: the log had no such segment"):
        assert len(policy.select_batch(3, features=[[30]] * 3, segments=["at", "fr", "it"])) == 3


@pytest.mark.parametrize("age", [1e300, -1e300, 1.7e9])
def test_a_feature_far_outside_the_log_is_clipped(age, tmp_path):
    table = personal()
    fitted = fit(table, model="cascade", segment="country", features=["age"])
    fitted.save(tmp_path)
    end = max(table["age"]) if age > 0 else min(table["age"])
    for same in (fitted, ContextFit.load(tmp_path), pickle.loads(pickle.dumps(fitted))):
        far, near = (Policy.from_fit(same, seed=1) for _ in range(2))
        with pytest.warns(UserWarning, match="features: 1 of 1 outside the range of the log, clipped to it"):
            decision = far.select(features=[age], segment=0)
        assert decision == near.select(features=[end], segment=0)
        far.update(decision, [1, 0])
        near.update(decision, [1, 0])
        with pytest.warns(UserWarning, match="features: 2 of 3 outside the range"):
            batch = far.select_batch(3, features={"age": [age, 30, age]}, segments=[0, 1, 1])
        assert batch == near.select_batch(3, features={"age": [end, 30, end]}, segments=[0, 1, 1])
        assert far.save() == near.save()
    lives = [Live("hybrid-ts", prior=tmp_path, seed=1) for _ in range(2)]
    with pytest.warns(UserWarning, match="outside the range of the log"):
        shown = lives[0].decide(1, features={"age": age}, segment="at")
    assert shown == lives[1].decide(1, features=[end], segment="at")
    for live in lives:
        assert (live.click(1, 0), live.close(1)) == ("counted", "counted")
    assert lives[0].save() == lives[1].save()


def test_items_of_contexts_keep_their_type(tmp_path):
    fitted = fit(personal(item=np.tile([7, 3], 600)), model="cascade", features=["age"])
    fitted.save(tmp_path)
    for same in (fitted, ContextFit.load(tmp_path), pickle.loads(pickle.dumps(fitted))):
        assert set(same.items) == {3, 7} == set(Policy.from_fit(same).items) and types(same.items) == {int}
        live = Live("hybrid-ts", prior=same, seed=1)
        assert set(live.items) == {3, 7} and set(live.decide(1, features=[30], only=[3])) == {3}
        with pytest.raises(TypeError, match='only: "3" is of another type'):
            live.decide(2, features=[30], only=["3"])
        with pytest.raises(TypeError, match='items: "3" is of another type'):
            Live("hybrid-ts", prior=same, items=["3"], seed=1)
        assert Live("hybrid-ts", prior=same, items=[3, 8], seed=1).items == [3, 8]
    with pytest.raises(ValueError, match="prior: item 0 is '[37]', that of the fit [37]"):
        Policy("hybrid-ts", "cascade", items=[str(item) for item in fitted.items], positions=2, user_features=1, prior=fitted)


def test_batches_of_named_items():
    policy = Policy("cascade-ts", "cascade", items=["a", ("b", 1), 2.5], positions=2, seed=1)
    batch = policy.select_batch(5)
    assert batch.actions.shape == batch.numbers.shape == (5, 2) and batch.actions.dtype == object
    assert [tuple(row) for row in batch.actions] == [decision.action for decision in batch]
    with pytest.raises(ValueError, match="read-only"):
        batch.actions[0, 0] = "c"
    users = models.Cascade([0.5, 0.4, 0.3], 2, seed=1)
    policy.update_batch(batch, users.respond(batch))
    short = Policy("batrac", "cascade", items=[7, 8, 9, 10, 11], positions=3, delta=0.1, pulls="one", seed=1).select_batch(4)
    assert short.actions.dtype == object and short.actions[:, 1].tolist() == [None] * 4
