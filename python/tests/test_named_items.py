"""Policies whose items have names, which begin with a log, and what they show of themselves."""

import copy
import pickle

import click_bandits
import numpy as np
import pytest
from click_bandits import Policy, fit, models

ITEMS = ["a", "b", "c", "d"]


def cascade(items=ITEMS, **arguments):
    return Policy("cascade-ts", "cascade", items=items, positions=2, **{"seed": 1, **arguments})


def test_names_stand_for_numbers():
    named, numbered = cascade(), cascade(items=4)
    for click in [0, 1, 1, 0, 1]:
        one, other = named.select(), numbered.select()
        assert one.action == tuple(ITEMS[number] for number in other.action)
        named.update(one, [False, click])
        numbered.update(other, [False, click])
    assert list(named.table()) == ITEMS and list(named.table().values()) == list(numbered.table().values())
    batch, other = named.select_batch(5), numbered.select_batch(5)
    assert (batch.numbers == other.actions).all() and batch.actions.tolist() == [list(one.action) for one in batch]
    assert [ITEMS.index(name) for name in batch[3].action] == list(other[3].action)
    assert batch.take([3])[0] == batch[3]
    users = models.Cascade([0.5, 0.4, 0.3, 0.2], 2, seed=1)
    named.update_batch(batch, users.respond(batch))
    named.update(batch[0], users.respond(batch[0]))


@pytest.mark.parametrize("items", [ITEMS, (7, 8), np.array([3, 1, 2]), [("a", 1), None, 2.5], range(5, 9)])
def test_any_hashable_values(items):
    policy = cascade(items=items)
    expected = tuple(items.tolist() if isinstance(items, np.ndarray) else items)
    assert policy.items == expected and policy.sizes == (len(expected), 2)
    decision, batch = policy.select(), policy.select_batch(3)
    for of in (policy, decision, batch):
        assert type(pickle.loads(pickle.dumps(of))) is type(of)
    assert pickle.loads(pickle.dumps(decision)) == decision and pickle.loads(pickle.dumps(batch)) == batch
    restored = pickle.loads(pickle.dumps(policy))
    assert restored.items == copy.copy(policy).items == expected
    restored.update(decision, [0, 1])
    assert [restored.select().action for _ in range(3)] is not None
    if isinstance(expected[0], tuple):
        with pytest.raises(ValueError, match=r"item \('a', 1\) is no str, bool, finite float or int.* use pickle"):
            policy.save()
        return
    assert Policy.load(policy.save()).items == expected
    assert type(decision).from_json(decision.to_json()) == decision
    assert type(batch).from_json(batch.to_json()) == batch


@pytest.mark.parametrize("item", [float("nan"), float("inf"), 2**70])
def test_numbers_that_json_cannot_keep(item):
    policy = cascade(items=[item, "b", "c"])
    with pytest.raises(ValueError, match=r"^item \S+ is no str, bool, finite float or int of 64 bits"):
        policy.save()
    assert len(pickle.loads(pickle.dumps(policy)).items) == 3


def test_winners_have_names():
    policy = Policy("double-ts", items=["x", "y", "z"], seed=3)
    decision = policy.select()
    policy.update(decision, decision.action[1])
    batch = policy.select_batch(4)
    policy.update_batch(batch, [pair.action[0] for pair in batch])
    assert policy.recommend()[0] in "xyz"
    with pytest.raises(ValueError, match="the winner is 'w', which is no item"):
        policy.update(policy.select(), "w")


def test_names_that_are_none():
    for items, error, words in [
        (["a", "a", "b"], ValueError, r"items\[1\] is 'a', as items\[0\]"),
        ([["a"], "b"], TypeError, r"items\[0\]: unhashable type: 'list'"),
        ("abc", TypeError, "items: expected a number, or the names"),
    ]:
        with pytest.raises(error, match=words):
            cascade(items=items)
    decision = cascade(items=["a", "b", "c", "z"]).select_batch(20)[7]
    policy = cascade()
    if "z" in decision.action:
        with pytest.raises(ValueError, match="a decision on other items"):
            policy.update(decision, [0, 0])
    with pytest.raises(ValueError, match="a decision on other items: numbers"):
        policy.update(cascade(items=4).select(), [0, 0])
    with pytest.raises(ValueError, match="a batch of a policy with other items"):
        policy.update_batch(cascade(items=4).select_batch(1), [[0, 0]])
    with pytest.raises(ValueError, match="3 names of 4 items"):
        Policy.load(cascade(items=4).save(), ("a", "b", "c"))


def test_logged_lists_are_learned_by_the_policys_own_rule():
    lists = [["a", "b"], ["c", "a"], ["d", "c"], ["a", "b"]]
    clicks = [[0, 1], [1, 0], [0, 0], [0, 0]]
    learned, numbered = cascade(), cascade(items=4)
    learned.learn(lists, clicks)
    numbered.learn([[ITEMS.index(name) for name in row] for row in lists], np.array(clicks, float))
    expected = {"a": [(2, 0)], "b": [(2, 1)], "c": [(2, 1)], "d": [(1, 0)]}
    assert learned.table() == expected and list(numbered.table().values()) == list(expected.values())
    one_by_one = cascade()
    for row, clicked in zip(lists, clicks):
        one_by_one.learn(row, clicked)
    assert one_by_one.table() == expected
    short = Policy("rsf-ts", "semi-bandit", items=ITEMS, positions=2, seed=1)
    short.learn(np.array(lists), clicks, observed=[2, 1, 0, 2])
    assert short.table()["d"] == [(0, 0)] and short.table()["c"] == [(1, 1)]
    pandas = pytest.importorskip("pandas")
    framed = cascade()
    framed.learn(pandas.DataFrame(lists), pandas.DataFrame(clicks))
    assert framed.table() == expected
    pyarrow = pytest.importorskip("pyarrow")
    framed = cascade()
    framed.learn(*(pyarrow.table(pandas.DataFrame(rows, columns=["1", "2"])) for rows in (lists, clicks)))
    assert framed.table() == expected
    # Rounds count, so that exploration is that of the log's length.
    ucb = Policy("cascade-kl-ucb", "cascade", items=ITEMS, positions=2, seed=1)
    ucb.learn(lists * 50, clicks * 50)
    scores = ucb.scores()
    bound = click_bandits.confidence.kl_ucb_upper(0.5, 100.0, np.log(201) + 3 * np.log(np.log(201)))
    assert scores["b"] == pytest.approx(bound, abs=1e-9)


def test_logs_that_do_not_fit_are_refused_and_change_nothing():
    policy = cascade()
    for lists, clicks, words in [
        ([["a", "z"]], [[0, 0]], r"items\[0\]\[1\] is 'z', which is no item of the policy"),
        ([["a", "b"], ["a", "a"]], [[0, 0], [0, 0]], r"items\[1\]\[1\] is 'a', which is there twice"),
        ([["a", "b", "c"]], [[0, 0, 0]], r"items\[0\]: expected 2 items, got 3"),
        ([["a", "b"]], [[1, 1]], "clicks of row 0: 2 clicks, but cascade users leave at the first"),
        ([["a", "b"]], [[0, 0], [0, 0]], "clicks: expected shape"),
        ([["a", "b"]], [[0, 0.5]], r"clicks\[0, 1\] is 0.5: expected 0 or 1"),
    ]:
        with pytest.raises(ValueError, match=words):
            policy.learn(lists, clicks)
    assert set(sum(policy.table().values(), [])) == {(0, 0)}
    stops = Policy("cascade-kl", "cascade", items=4, positions=2, delta=0.1)
    for method in (lambda: stops.learn([[0, 1]], [[0, 0]]), stops.table, stops.scores, stops.items_frame):
        with pytest.raises(ValueError, match="`cascade-kl` cannot show or take a table: it reads whole answers"):
            method()


def test_a_look_inside():
    policy = Policy("pbm-ts", items=["a", "b"], examination=[1.0, 0.5], seed=1)
    for _ in range(4):
        policy.learn(["a", "b"], [1, 0])
    frame = policy.items_frame()
    assert frame.columns == ["item", "displays", "clicks", "mean", "lower", "upper", "score"]
    assert [list(frame[name]) for name in ("item", "displays", "clicks", "mean")] == [["a", "b"], [4, 4], [4, 0], [1, 0]]
    assert list(frame["score"]) == list(policy.scores().values())
    assert policy.scores()["a"] == pytest.approx(5 / 6)
    attraction = (np.arange(200_000) + 0.5) / 200_000
    weights = (1 - attraction / 2) ** 4
    assert policy.scores()["b"] == pytest.approx((attraction * weights).sum() / weights.sum(), abs=1e-6)
    live = click_bandits.Live("cascade-ts", "cascade", positions=1, items=["a"], seed=1)
    plain = Policy("cascade-ts", "cascade", positions=1, items=["a"], seed=1)
    for click in [1, 0, 0]:
        live.show(click + 10 * len(live.table()), ["a"])
        plain.learn(["a"], [click])
    assert plain.items_frame()["lower"][0] > 0
    assert list(Policy("cascade-ucb1", "cascade", items=3, positions=2, seed=1).scores().values()) == [np.inf] * 3


@pytest.fixture(scope="module")
def log():
    random = np.random.default_rng(1)
    attraction = {"red": 0.5, "green": 0.3, "blue": 0.1}
    rows: dict = {"query": [], "session": [], "item": [], "position": [], "click": []}
    for session in range(3000):
        going = True
        for position, item in enumerate(random.permutation(list(attraction)), 1):
            click = going and random.random() < attraction[item]
            going &= not click
            for key, value in zip(rows, ["shoes", session, str(item), position, int(click)]):
                rows[key].append(value)
    return rows


def test_a_policy_knows_what_the_log_knows(log):
    fitted = fit(log, model=["cascade", "pbm", "dcm", "sdbn"])
    users = fitted.instances("cascade")[0]
    assert users["log"] == {"items": ["blue", "green", "red"], "positions": [1, 2, 3]}
    policy = Policy.from_fit(fitted, "shoes", model="cascade", seed=1)
    assert policy.name == "cascade-ts" and policy.items == tuple(users["log"]["items"]) and policy.sizes == (3, 3)
    assert list(policy.scores().values()) == pytest.approx(users["attraction"], abs=0.01)
    lists = np.array(log["item"]).reshape(-1, 3)
    plain = Policy("cascade-ts", "cascade", items=policy.items, positions=3, seed=1)
    plain.learn(lists, np.array(log["click"]).reshape(-1, 3))
    assert plain.table() == policy.table()
    shown = [policy.select().action for _ in range(200)]
    assert shown.count(("red", "green", "blue")) > 190
    by_position = Policy.from_fit(fitted, model="pbm", policy="pbm-ucb", seed=1)
    counts = fitted.counts
    cells = {(item, position): (shows, clicks) for _, item, position, clicks, shows in zip(*counts.to_numpy().values())}
    assert by_position.table() == {
        item: [cells[item, position] for position in (1, 2, 3)] for item in ("blue", "green", "red")
    }
    gibbs = Policy.from_fit(fitted, model="pbm", policy="pbm-gibbs", seed=1)
    assert gibbs.table() == by_position.table()
    for arguments, words in [
        ({"model": "sdbn"}, 'no policy learns from counts of "sdbn" users: give model="cascade" or "pbm" or "dcm", which'),
        ({"query": "shoe"}, 'query "shoe" was not fitted: expected shoes; did you mean `shoes`'),
        ({"policy": "pbm-pie", "model": "pbm"}, "`pbm-pie` does not learn from counts"),
        ({"policy": "cascade-ts", "model": "pbm"}, "it does not play"),
    ]:
        with pytest.raises(ValueError, match=words):
            Policy.from_fit(fitted, **arguments)


def test_the_prior_of_a_fit(log, tmp_path):
    fitted = fit(log, model="cascade")
    fitted.save(tmp_path / "parameters.json")
    by_file = cascade(prior=tmp_path, query="shoes")
    assert cascade(prior=fitted, query="shoes").scores() == by_file.scores() != cascade().scores()
    with pytest.raises(ValueError, match='no query "shirts".*known: shoes'):
        cascade(prior=fitted, query="shirts")
    for prior in (None, (1, 2), "estimated"):
        with pytest.raises(ValueError, match='query is "shoes": only with the prior of a fit'):
            cascade(prior=prior, query="shoes")
    with pytest.raises(ValueError, match="no fit of `pbm`, but of cascade"):
        Policy("pbm-ts", items=2, examination=[1.0], prior=fitted)


def test_seeds_from_numpy():
    def choices(seed):
        return [cascade(seed=seed).select().action for _ in range(3)]

    assert choices(np.random.default_rng(5))[0] == choices(np.random.default_rng(5))[0]
    random = np.random.default_rng(5)
    assert len({cascade(items=200, seed=random).select().action for _ in range(5)}) > 1


def test_messages_that_lead_on():
    with pytest.raises(TypeError, match="decision: expected what `select` returned, got <class 'list'>: `learn` takes"):
        cascade().update(["a", "b"], [0, 0])
    with pytest.raises(ValueError, match=r"unknown policy `pbm-tz`; did you mean `pbm-ts`\? `policies\(\)` has all$"):
        Policy("pbm-tz", items=2, examination=[1.0])
    for name, meant in [("n_arms", "items"), ("n_items", "items"), ("n_positions", "positions"), ("random_state", "seed")]:
        with pytest.raises(ValueError, match=f"did you mean `{meant}`"):
            Policy("cascade-ts", "cascade", positions=2, **{name: 3})
    users = models.PositionBased([0.5, 0.4, 0.3], [1.0, 0.5])
    for action, words in [([0, 7], "7 is no item: expected from 0 to 2"), ([1, 1], "item 1 is there twice")]:
        with pytest.raises(ValueError, match=words):
            users.respond(action)
    with pytest.raises(ValueError, match="3 is no row: expected from 0 to 1"):
        models.RankOne([0.5, 0.4], [0.3]).respond([3, 0])
    duel = Policy("double-ts", items=2, seed=1)
    same = next(decision for decision in (duel.select() for _ in range(100)) if len(set(decision.action)) == 1)
    with pytest.raises(ValueError, match=r"the winner is 5: expected \d, both items of the pair"):
        duel.update(same, 5)
    policy = Policy("pbm-ts", items=2, examination=[1.0, 0.5], seed=1)
    policy.update(policy.select(), [1.0, np.float32(0.0)])
    policy.update(policy.select(), np.array([1.0, 0.0]))
    policy.update_batch(policy.select_batch(1), np.array([[1.0, 0.0]]))
    for wrong in (0.5, float("nan")):
        with pytest.raises(ValueError, match="expected"):
            policy.update(policy.select(), [wrong, 0])
