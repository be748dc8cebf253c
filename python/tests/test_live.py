"""Policies among items that come and go, with answers that come late, twice or never."""

import copy
import doctest
import json
import math
import pickle
import random

import numpy as np
import pytest
from click_bandits import Fitted, Live, Policy, fit, policies

PBM = {"examination": [0.9, 0.6, 0.3]}
ROWS = [row for row in policies() if row["live"] == "table"]
CASES = [(row["name"], model) for row in ROWS for model in row["plays"] if model not in ("rank-one", "dueling")]
UNKNOWN = {"pbm-gibbs"}
DRAW = {"pbm-ts", "bc-mp-ts", "pbm-gibbs", "rsf-ts", "cascade-ts", "dcm-ts"}


def live(name, model, **more):
    told = PBM if model == "pbm" and name not in UNKNOWN else {"positions": 3}
    return Live(name, model, **told, seed=1, **more)


def play(policy, rounds, times=1, begin=0):
    """Rounds with late answers, each of them sent so many times; items come and go. The lists."""
    world = random.Random(begin)
    lists = []
    for t in range(begin, begin + rounds):
        shown = policy.decide(t, except_=[f"item-{world.randrange(9)}"])
        lists.append(shown)
        late, position = t - world.randrange(5), world.randrange(4)
        for _ in range(times):
            policy.click(late, position)
            policy.close(t - 3)
            if t % 20 == 7:
                policy.retire(shown[0])
                policy.add(f"item-{t}")
    return lists


ITEMS = ["item-0", "item-1", "item-2", "item-3", 4, 5, 6, 7]


def test_the_examples_of_the_docstring():
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder(recurse=False).find(Live, "Live", globs={"Live": Live}):
        runner.run(test)
    assert runner.summarize().failed == 0 and runner.tries >= 5


@pytest.mark.parametrize(("name", "model"), CASES)
def test_every_answer_twice_gives_the_same_lists(name, model):
    once, twice = (live(name, model, items=ITEMS, window=40) for _ in range(2))
    assert play(once, 300) == play(twice, 300, times=2)
    assert once.save() == twice.save()


@pytest.mark.parametrize(("name", "model"), CASES)
def test_a_restored_policy_makes_the_same_choices(name, model):
    prior = "estimated" if name in DRAW else None
    policy = live(name, model, items=ITEMS, prior=prior, explore=0.1, keep_retired=3)
    play(policy, 150)
    copies = [Live.load(policy.save()), pickle.loads(pickle.dumps(policy)), copy.copy(policy)]
    lists = play(policy, 100, begin=150)
    assert all(play(other, 100, begin=150) == lists for other in copies)
    assert all(other.save() == policy.save() for other in copies)


def test_items_come_go_return_and_are_forgotten():
    policy = Live("cascade-ts", "cascade", positions=2, items=["a", "b"], seed=1)
    assert set(policy.items) == {"a", "b"} and not policy.add("a") and policy.add("c")
    assert set(Live("cascade-ts", "cascade", positions=2, items={"a", 1}).items) == {"a", 1}
    shown = policy.decide("x", only=["a", "b", "unheard of"])
    assert set(shown) == {"a", "b"} and policy.decide("x", only=["c"]) == shown
    assert policy.click("x", 0) == "counted" and policy.close("x") == "counted"
    assert policy.table() == {shown[0]: [(1, 1)], shown[1]: [(0, 0)], "c": [(0, 0)]}
    assert policy.retire(shown[0]) and not policy.retire(shown[0])
    assert shown[0] not in policy.items and policy.table()[shown[0]] == [(1, 1)]
    assert policy.add(shown[0]) and policy.table()[shown[0]] == [(1, 1)]
    policy.forget(shown[0])
    assert shown[0] not in policy.table() and policy.decide("x") == [None, shown[1]]
    policy.add("d")
    assert policy.click("x", 1) == "counted" and policy.table()["d"] == [(0, 0)]
    assert policy.decide("x") == [None, shown[1]]
    assert policy.decide("y", only=["c"], except_=["c"]) == []
    # An item of the same name is another one.
    policy.add(shown[0])
    assert policy.table()[shown[0]] == [(0, 0)] and policy.decide("x") == [None, shown[1]]
    assert [policy.decide(t, only=["d"]) for t in range(3)] == [["d"]] * 3


def test_lists_of_others_and_partly_seen_lists():
    policy = Live("pbm-ts", items="ab cd ef".split(), examination=[1.0, 0.5], seed=1)
    assert policy.show("x", ["ef", "ab"]) == "counted" and policy.show("x", ["ab"]) == "repeated"
    assert policy.click("x", 1) == "counted" and policy.close("x", 0) == "counted"
    assert policy.table() == {"ab": [(0, 0), (1, 1)], "cd": [(0, 0)] * 2, "ef": [(0, 0)] * 2}
    assert policy.close("x", seen=1) == "counted" and policy.table()["ef"] == [(1, 0), (0, 0)]
    assert policy.close("x", 0) == "repeated" and policy.close("x") == "counted" and policy.close("x") == "repeated"
    assert policy.click("x", 2) == "no such position" and policy.close("y") == "unknown"


@pytest.mark.parametrize(("name", "model"), CASES)
def test_propensities_are_those_of_the_shown_list(name, model):
    policy = live(name, model, items=ITEMS, propensities=True, draws=20, epsilon=0.1)
    play(policy, 60)
    restored = Live.load(policy.save())
    play(policy, 20, begin=60)
    play(restored, 20, begin=60)
    for t in range(80):
        pairs = policy.propensities(t)
        assert len(pairs) == 3 and pairs == restored.propensities(t)
        assert all(0 < prefix <= item <= 1 for item, prefix in pairs) and pairs[0][0] == pairs[0][1]
        assert [prefix for _, prefix in pairs] == sorted((prefix for _, prefix in pairs), reverse=True)
    assert policy.show("other", [4]) == "counted" and policy.propensities("other") == []
    assert policy.propensities("nobody") is None and len(policy.propensities(0)) == 3
    without = live(name, model, items=ITEMS)
    without.decide(0)
    assert without.propensities(0) == []


def test_intervals_are_bounds_of_the_table():
    policy = Live("pbm-ts", items=["a", "b"], examination=[1.0, 0.5], seed=1)
    for t in range(200):
        policy.show(t, ["a"])
        if t < 20:
            policy.click(t, 0)
        policy.close(t)
    found = policy.intervals()
    assert policy.table() == {"a": [(200, 20), (0, 0)], "b": [(0, 0)] * 2}
    assert found["b"] == [(0, 1)] * 2 and found["a"][1] == (0, 1)
    low, high = found["a"][0]
    for q in (low, high):
        divergence = 0.1 * math.log(0.1 / q) + 0.9 * math.log(0.9 / (1 - q))
        assert 200 * divergence == pytest.approx(math.log(40), rel=1e-6)
    assert low < 0.1 < high


def test_limits_of_what_is_kept():
    policy = Live("cascade-ucb1", "cascade", positions=1, items=range(4), keep_open=2, keep_retired=1, window=2, skips="at-once", seed=1)
    for t in range(3):
        policy.show(t, [3])
    assert policy.table()[3] == [(2, 0)]
    assert [policy.click(t, 0) for t in range(3)] == ["unknown", "counted", "counted"] and policy.table()[3] == [(2, 2)]
    assert policy.retire(0) and policy.retire(1) and set(policy.table()) == {1, 2, 3}
    with pytest.raises(KeyError, match="0"):
        policy.retire(0)


@pytest.mark.parametrize(
    ("name", "arguments", "error", "words"),
    [
        ("cascade-tss", {}, ValueError, "did you mean `cascade-ts`"),
        ("top-rank", {}, ValueError, "`top-rank` cannot be used live with a table: it reads whole answers"),
        ("cascade-ts", {"positions": 65}, ValueError, "65"),
        ("cascade-ts", {"positions": 0}, ValueError, "no positions"),
        ("cascade-ts", {"positions": -1}, ValueError, "positions is -1"),
        ("cascade-ts", {"window": 0}, ValueError, "a window needs at least one observation"),
        ("cascade-ts", {"window": 1.5}, TypeError, "window: expected an integer"),
        ("cascade-ts", {"explore": 1.5}, ValueError, "exploration is 1.5"),
        ("cascade-ts", {"explore": math.nan}, ValueError, "exploration is NaN"),
        ("cascade-ts", {"explore": 0.1, "propensities": True}, ValueError, "`explore` is above 0, but propensities"),
        ("cascade-ts", {"propensities": True, "draws": 0}, ValueError, "0 draws of a list: expected 1 to 10000"),
        ("cascade-ts", {"propensities": True, "epsilon": math.nan}, ValueError, "epsilon: NaN is not from 0 to 1"),
        ("cascade-ts", {"skips": "at-clos"}, ValueError, "skips is `at-clos`: expected at-close or at-once; did you mean `at-close`"),
        ("cascade-ts", {"keep_open": 0}, ValueError, "at least one decision must stay open"),
        ("cascade-ts", {"prior": (0, 1)}, ValueError, r"`cascade-ts`: the prior Beta\(0, 1\): expected a above 0"),
        ("cascade-ts", {"prior": (math.nan, 1)}, ValueError, r"Beta\(NaN, 1\)"),
        ("cascade-ts", {"prior": (1, math.inf)}, ValueError, r"Beta\(1, inf\)"),
        ("cascade-ts", {"prior": (1, 0.5)}, ValueError, r"Beta\(1, 0.5\): expected .*b of at least 1"),
        ("cascade-ts", {"prior": (1, 2, 3)}, TypeError, r"prior: expected \(a, b\), the result of fit, its file or directory"),
        ("cascade-ts", {"prior": 7}, TypeError, r"prior: expected \(a, b\), the result of fit, its file or directory"),
        ("cascade-ts", {"prior": "nowhere"}, FileNotFoundError, "prior: no such file or directory: nowhere: expected"),
        ("cascade-kl-ucb", {"prior": (1, 9)}, ValueError, "`cascade-kl-ucb`: this policy draws from no posterior"),
        ("cascade-kl-ucb", {"prior": "estimated"}, ValueError, "`cascade-kl-ucb`: .*draws from no posterior"),
        ("cascade-ts", {"items": [1, 2.5]}, TypeError, "items: expected an int or a str"),
        ("cascade-ts", {"items": "abc"}, TypeError, "items: expected items"),
        ("cascade-ts", {"items": [2**63]}, ValueError, "items is 9223372036854775808"),
        ("cascade-ts", {"itmes": [1]}, ValueError, "unknown parameter `itmes`.*did you mean `items`"),
    ],
)
def test_wrong_arguments_are_named(name, arguments, error, words):
    with pytest.raises(error, match=words):
        Live(name, "cascade", **{"positions": 2, **arguments})


def test_other_models_are_refused_by_what_fits():
    with pytest.raises(ValueError, match=r"Beta\(0.5, 4\): this policy needs a of at least 1"):
        Live("pbm-ts", **PBM, prior=(0.5, 4))
    with pytest.raises(ValueError, match="`uts` cannot be used live with a table: it chooses no lists"):
        Live("uts", "rank-one", positions=2)


def test_wrong_calls_are_named_and_change_nothing():
    policy = Live("pbm-ts", items=["a", "b", "c"], examination=[1.0, 0.5], seed=1)
    policy.decide("x")
    before = policy.save()
    for call in (policy.retire, policy.forget):
        with pytest.raises(KeyError, match="unheard of"):
            call("unheard of")
        with pytest.raises(TypeError, match="item: expected an int or a str, got .*list"):
            call([])
    with pytest.raises(KeyError, match="unheard of"):
        policy.show("y", ["a", "unheard of"])
    with pytest.raises(ValueError, match=r"items\[1\] is 'a', which is there before"):
        policy.show("y", ["a", "a"])
    with pytest.raises(ValueError, match="3 positions, and at most 2 are counted"):
        policy.show("y", ["a", "b", "c"])
    with pytest.raises(ValueError, match="position is -1"):
        policy.click("x", -1)
    with pytest.raises(TypeError, match="position: expected an integer"):
        policy.click("x", 0.5)
    with pytest.raises(TypeError, match="id: expected an int or a str, got .*NoneType"):
        policy.decide(None)
    with pytest.raises(ValueError, match="seen is -1"):
        policy.close("x", -1)
    assert policy.click("x", 2**40) == "no such position"
    assert policy.save() == before


def test_damaged_states_are_refused():
    policy = Live("cascade-ts", "cascade", positions=2, items=["a", "b", "c"], prior="estimated", seed=1)
    policy.decide("x")
    saved = json.loads(policy.save())
    changes = [
        (lambda s: s.update(format=2), "format 2: expected 1"),
        (lambda s: s["generator"].update(s=[0, 0, 0, 0]), "generator"),
        (lambda s: s["names"].pop(), "the names are not those of the items"),
        (lambda s: s["names"][0].__setitem__(1, "b"), "two items have the same name"),
        (lambda s: s["live"].update(other=s["live"].pop("cascade")), "unknown variant `other`"),
        (lambda s: s["live"]["cascade"].update(estimator=None), "from which the prior is estimated"),
        (lambda s: s.pop("live"), "missing field `live`"),
    ]
    for change, words in changes:
        damaged = json.loads(json.dumps(saved))
        change(damaged)
        with pytest.raises(ValueError, match=f"no saved policy.*{words}"):
            Live.load(json.dumps(damaged).encode())
    with pytest.raises(ValueError, match="no saved policy"):
        Live.load(policy.save()[:-2])


def test_priors(tmp_path):
    assert Live("cascade-ts", "cascade", positions=2, prior=(0.3, 9.7)).prior == (0.3, 9.7)
    assert Live("pbm-ts", **PBM).prior == (1, 1) and Live("pbm-ucb", **PBM).prior is None
    site = {"typical": 0.1, "prior": 20.0}
    fit = {"schema": 1, "models": [{"model": "cascade", "site": site, "queries": [{"query": "shoes", "typical": 0.02}]}, {"model": "pbm", "site": site}]}
    file = tmp_path / "parameters.json"
    file.write_text(json.dumps(fit))
    of = lambda **more: Live("cascade-ts", "cascade", positions=2, prior=tmp_path, **more).prior  # noqa: E731
    assert of() == pytest.approx((2, 18)) and of(query="shoes") == pytest.approx((0.4, 19.6))
    # The posteriors of PBM-TS need a click.
    assert Live("pbm-ts", **PBM, prior=str(tmp_path)).prior == pytest.approx((2, 18))
    # Both shapes are raised to what it can draw from, and the mean stays.
    weak = {"model": "pbm", "site": {"typical": 0.4, "lift": [1.0, 0.1], "prior": 20.0}}
    (tmp_path / "weak.json").write_text(json.dumps({"schema": 1, "models": [weak]}))
    a, b = Live("pbm-ts", **PBM, prior=str(tmp_path / "weak.json")).prior
    assert a == pytest.approx(1) and a / (a + b) == pytest.approx(0.22)
    with pytest.raises(ValueError, match='parameters.json: no query "hats"'):
        of(query="hats")
    with pytest.raises(ValueError, match="no fit of `dcm`, but of cascade, pbm"):
        Live("dcm-ts", "dcm", positions=2, prior=tmp_path)
    with pytest.raises(ValueError, match="queries are in a table"):
        Live("pbm-ts", **PBM, prior=tmp_path, query="shoes")
    site["prior"] = 0.0
    file.write_text(json.dumps(fit))
    with pytest.raises(ValueError, match="the fit of `cascade` has no prior"):
        of()
    file.write_text("{")
    with pytest.raises(ValueError, match="parameters.json"):
        of()


def test_a_policy_has_the_prior_that_it_is_given():
    def shows(**more):
        policy = Policy("cascade-ts", "cascade", items=60, positions=1, seed=1, **more)
        for _ in range(60):
            decision = policy.select()
            policy.update(decision, [decision.action == (7,)])
        assert Policy.load(policy.save()).select() == policy.select()
        return sum(policy.select().action == (7,) for _ in range(50))

    # One click in ten displays is usual, so an item that was clicked is soon the best.
    assert shows(prior=(1, 30)) >= shows()
    with pytest.raises(ValueError, match="`pbm-ucb`: this policy draws from no posterior"):
        Policy("pbm-ucb", items=5, **PBM, prior=(1, 9))
    with pytest.raises(ValueError, match="`pbm-ucb`: this policy draws from no posterior"):
        Policy("pbm-ucb", items=5, **PBM, prior="estimated")


def test_a_policy_estimates_its_prior_from_the_answers():
    def played(policy):
        world, clicks = random.Random(1), 0
        attraction = [world.betavariate(1, 19) for _ in range(1000)]
        for t in range(3000):
            # A saved policy continues as it would have.
            policy = Policy.load(policy.save()) if t == 1500 else policy
            decision = policy.select()
            drawn = [world.random() < attraction[item] for item in decision.action]
            clicks += any(drawn)
            policy.update(decision, [click and not any(drawn[:at]) for at, click in enumerate(drawn)])
        return clicks, policy.select().action

    def cascade(**prior):
        return Policy("cascade-ts", "cascade", items=1000, positions=4, seed=1, **prior)

    estimated, true, uniform = [played(cascade(**prior))[0] for prior in ({"prior": "estimated"}, {"prior": (1, 19)}, {})]
    assert estimated > 0.9 * true > 1.2 * uniform, (estimated, true, uniform)
    assert played(cascade(prior="estimated")) == played(copy.deepcopy(cascade(prior="estimated")))
    assert played(cascade())[1] != played(cascade(prior="estimated"))[1]


def test_an_estimated_prior_is_that_of_the_items():
    world = random.Random(1)
    attraction = [world.betavariate(1, 9) for _ in range(300)]
    policy = Live("cascade-ts", "cascade", positions=4, items=range(300), prior="estimated", seed=1)
    for t in range(2100):
        for position, item in enumerate(policy.decide(t)):
            if world.random() < attraction[item]:
                policy.click(t, position)
                break
        policy.close(t)
    a, b = policy.prior
    assert abs(a / (a + b) - 0.1) < 0.03 and 4 < a + b < 20


def hybrid(**given):
    items = {"hat": [0.5], "coat": [-1.0], "scarf": [0.1]}
    sizes = {"items": items, "positions": 2, "user_features": 2, "segments": 3, "seed": 1}
    return Live("hybrid-ts", "cascade", **{**sizes, **given})


def test_a_policy_that_sees_who_asks_learns_when_a_decision_is_closed():
    live = hybrid(positions=1)
    right = 0
    for visit in range(500):
        old = visit % 2 == 0
        shown = live.decide(visit, only=["hat", "coat"], features=[1.0 if old else -1.0, 0.5], segment=visit % 3)
        click = (shown == ["hat"]) == old
        right += click and visit >= 400
        if click:
            assert live.click(visit, 0) == "counted"
        before = live.table()[shown[0]]
        assert live.close(visit) == "counted" and live.close(visit) == "repeated"
        assert live.table()[shown[0]] == [(before[0][0] + 1, before[0][1] + click)]
        assert live.click(visit, 0) == ("repeated" if click else "closed")
    assert right > 85
    assert sum(row[0][0] for row in live.table().values()) == 500
    assert live.prior is None


def test_a_restored_policy_that_sees_who_asks_makes_the_same_choices():
    live = hybrid()
    for visit in range(50):
        live.decide(visit, features=np.array([0.1 * visit, -1.0]), segment=visit % 4)
        live.click(visit, visit % 2)
        if visit != 20:
            live.close(visit, seen=2)
    assert live.add("boot", features=[0.3]) and not live.add("boot", [0.3])
    live.retire("coat")
    live.forget("hat")
    restored = Live.load(live.save())
    for visit in range(20, 80):
        ask = {"features": [0.5, visit], "segment": 1}
        assert live.decide(visit, **ask) == restored.decide(visit, **ask)
        assert live.close(visit) == restored.close(visit)
    assert live.save() == restored.save()
    assert live.show(99, ["boot"], features=[0, 0]) == "counted"


def test_contexts_that_do_not_fit_are_refused():
    live = hybrid()
    with pytest.raises(ValueError, match=r"features: 1 numbers, expected 2"):
        live.decide(1, features=[0.5])
    with pytest.raises(ValueError, match=r"features"):
        live.decide(1, features=[0.5, float("nan")])
    with pytest.raises(ValueError, match=r"the features of an item are \[\]: expected 1"):
        live.add("boot")
    for setting in [{"window": 5}, {"skips": "at-once"}, {"prior": "estimated"}, {"prior": (1.0, 9.0)}]:
        with pytest.raises(ValueError, match=f"{next(iter(setting))}"):
            hybrid(**setting)
    plain = Live("cascade-ts", "cascade", positions=2, items=["hat"])
    for call in [
        lambda: plain.decide(1, features=[0.5]),
        lambda: plain.decide(1, segment=1),
        lambda: plain.add("coat", features=[0.5]),
        lambda: Live("cascade-ts", "cascade", positions=2, user_features=1),
    ]:
        with pytest.raises(TypeError, match="sees no contexts"):
            call()
    with pytest.raises(ValueError, match="segments"):
        hybrid(segments=2**30)



def test_it_begins_with_what_a_log_counted():
    # 40 lists (a, b) with a click on b, 10 lists (b, c) with one on b, 5 without.
    lists = [(["a", "b"], [0, 1])] * 40 + [(["b", "c"], [1, 0])] * 10 + [(["b", "c"], [0, 0])] * 5
    log = {
        "session": np.repeat(np.arange(55), 2),
        "item": [item for items, _ in lists for item in items],
        "position": [1, 2] * 55,
        "click": [click for _, clicks in lists for click in clicks],
    }
    fitted = fit(log, model=["cascade", "pbm", "dcm"])
    live = Live("cascade-ts", "cascade", positions=2, items=["c", "new"], seed=1)
    live.retire("c")
    assert live.begin_with(fitted) == 3 and live.items == ["new", "a", "b"]
    assert live.table() == {"c": [(5, 0)], "new": [(0, 0)], "a": [(40, 0)], "b": [(55, 50)]}
    by_position = Live("pbm-ts", positions=2, examination=[1.0, 0.5])
    assert by_position.begin_with(fitted) == 3
    assert by_position.table() == {"a": [(40, 0), (0, 0)], "b": [(15, 10), (40, 40)], "c": [(0, 0), (15, 0)]}
    shorter = Live("pbm-ts", positions=1, examination=[1.0])
    shorter.begin_with(fitted)
    assert shorter.table()["b"] in ([(15, 10)], [(55, 50)])
    # Numbers are the names of a log of numbers.
    numbers = fit({**log, "item": ["abc".index(item) for item in log["item"]]}, model="dcm")
    live = Live("dcm-ts", "dcm", positions=2, items=[1], seed=1)
    assert live.begin_with(numbers) == 3 and live.table()[1] == [(55, 50)] and set(live.items) == {0, 1, 2}
    restored = Live.load(live.save())
    assert restored.table() == live.table() and restored.decide(1) == live.decide(1)
    with pytest.raises(ValueError, match="`hybrid-ts` begins with a ContextFit: give it as prior"):
        hybrid().begin_with(fitted)
    with pytest.raises(ValueError, match='query "hats" was not fitted'):
        Live("dcm-ts", "dcm", positions=2).begin_with(numbers, "hats")
    with pytest.raises(ValueError, match="cascade"):
        Live("cascade-ts", "cascade", positions=2).begin_with(numbers)
    with pytest.raises(ValueError, match="Live.begin_with: parameters.json does not have it"):
        live.begin_with(Fitted.from_json(numbers.to_json()))
    with pytest.raises(TypeError):
        live.begin_with("fitted")


def valued(name="cascade-ts", model="cascade", **more):
    """After many clicks on every item: cheap ones are clicked more often."""
    told = {"examination": [0.9, 0.6]} if model == "pbm" and name not in UNKNOWN else {"positions": 2}
    policy = Live(name, model, **told, items=[*"abc"], seed=1, **more)
    for item, clicks in zip("abc", (600, 300, 200)):
        for t in range(1000):
            policy.show(f"{item}{t}", [item])
            if t < clicks:
                policy.click(f"{item}{t}", 0)
            policy.close(f"{item}{t}")
    return policy


@pytest.mark.parametrize(
    ("name", "model", "more"),
    [
        ("cascade-ts", "cascade", {}),
        ("rsf-ts", "cascade", {}),
        ("dcm-ts", "dcm", {"continuation": 0.2}),
        ("pbm-ts", "pbm", {}),
        ("bc-mp-ts", "pbm", {}),
        ("pbm-gibbs", "pbm", {"order": "known"}),
    ],
)
def test_lists_earn_most(name, model, more):
    policy = valued(name, model, **more)
    assert set(policy.decide(1)) == {"a", "b"} and policy.values == {"a": 1.0, "b": 1.0, "c": 1.0}
    for item, value in (("a", 1), ("b", 10.5), ("c", 100)):
        assert not policy.add(item, value=value)
    assert policy.decide(2) == ["c", "b"]
    # A price of the moment holds for one list.
    assert policy.decide(3, values={"a": 1e4}) == ["a", "c"] and policy.decide(4) == ["c", "b"]
    assert Live.load(policy.save()).decide(5) == policy.decide(5) and pickle.loads(pickle.dumps(policy)).values == policy.values
    assert policy.decide(6, pins={0: "a"}) == ["a", "c"]
    # A forgotten item has no value when it comes again.
    policy.forget("c")
    assert policy.add("c") and policy.values == {"a": 1.0, "b": 10.5, "c": 1.0}


def test_values_of_answers():
    policy = valued(values="answers", cap=50.0)
    assert policy.values == {"a": 1.0, "b": 1.0, "c": 1.0}
    assert policy.click("a0", 0, value=2.0) == "counted" and policy.click("a0", 0, value=2.0) == "repeated"
    assert policy.click("c0", 0, value=400.0, revision=2) == "counted"
    # The mean of all is 201.
    assert policy.values == pytest.approx({"a": 50.0, "b": 50.0, "c": 50.0})
    assert policy.click("c0", 0, value=9.0, revision=1) == "repeated"
    assert policy.click("c0", 0, value=4.0, revision=3) == "counted"
    assert policy.values == pytest.approx({"a": (5 * 3 + 2) / 6, "b": 3.0, "c": (5 * 3 + 4) / 6})
    # Refunds, also later and after the end.
    assert policy.click("a0", 0, value=0) == "counted"
    assert policy.values == pytest.approx({"a": 10 / 6, "b": 2.0, "c": 14 / 6})
    again = Live.load(policy.save())
    for t in range(20):
        assert again.decide(t) == policy.decide(t)
        assert again.click(t, 0, value=t) == policy.click(t, 0, value=t) == "counted"
    assert again.values == policy.values and again.save() == policy.save()
    with pytest.raises(ValueError, match="revision"):
        policy.click("c0", 0, value=1.0)


def test_values_in_any_order_give_the_same_table():
    world, begun = random.Random(1), valued(values="answers")
    for _ in range(50):
        messages = [(f"{world.choice('abc')}{world.randrange(4)}", world.randrange(1000) / 7, n) for n in range(30)]
        messages += messages[:5]
        found = []
        for _ in range(2):
            policy = copy.copy(begun)
            world.shuffle(messages)
            for id, value, revision in messages:
                assert policy.click(id, 0, value=value, revision=revision) in ("counted", "repeated")
            found.append(policy.values)
        assert found[0] == found[1]


def test_the_continuation_of_a_fit():
    """After a click, 70 of 100 users go on at either position."""
    world = random.Random(1)
    log = {"session": [], "item": [], "position": [], "click": []}
    for session in range(3000):
        stays = True
        for position, item in enumerate(world.sample("abcd", 3), 1):
            click = stays and world.random() < 0.4
            stays = stays and not (click and world.random() < 0.3)
            for column, entry in zip(log.values(), (session, item, position, int(click))):
                column.append(entry)
    fitted = fit(log, model="dcm")
    policy = Live("dcm-ts", "dcm", positions=2, items=[*"abcd"], prior=fitted, values={"a": 5.0})
    share = float(repr(policy).split("continuation=")[1].split(")")[0])
    assert abs(share - 0.7) < 0.06 and policy.values["a"] == 5.0
    given = Live("dcm-ts", "dcm", positions=2, prior=fitted, continuation=0.5)
    assert "continuation=0.5" in repr(given)
    with pytest.raises(ValueError, match="`dcm-ts`: .*no values of items.*`continuation`"):
        Live("dcm-ts", "dcm", positions=2, items=["a"], values={"a": 5.0})


class _Series:
    def to_dict(self):
        return {"a": 1.0}


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"values": {"a": -1.0}}, "-1"),
        ({"values": {"a": math.nan}}, "NaN"),
        ({"values": {"a": 2e9}}, "2000000000"),
        ({"values": {"a": "39 EUR"}}, "str"),
        ({"values": {"a": -1}}, r"values\[\"a\"\]: a value of -1"),
        ({"values": ["a"]}, "values: expected a dict"),
        ({"values": _Series()}, r"values: expected a dict .*_Series'>; give what its method to_dict\(\) returns"),
        ({"items": {"a": 2}}, "items: a dict has features, and `cascade-ts` sees none"),
        ({"draws": 5}, "draws: only with propensities=True"),
        ({"epsilon": 0.1}, "epsilon: only with propensities=True"),
        ({"values": {"nobody": 1.0}}, "nobody"),
        ({"values": "sums"}, "values is `sums`: expected answers or a dict"),
        ({"cap": 3.0}, "cap: values are not"),
        ({"values": "answers", "cap": 0.0}, "cap"),
    ],
)
def test_bad_values_are_refused(given, error):
    with pytest.raises((ValueError, TypeError, KeyError), match=error):
        Live("cascade-ts", "cascade", **{"positions": 1, "items": ["a", "b"], **given})


def test_refused_values_change_nothing():
    policy, of_answers, ucb = valued(), valued(values="answers"), valued("cascade-kl-ucb")
    saved = policy.save(), of_answers.save(), ucb.save()
    for call, error in [
        (lambda: policy.add("new", value=-1.0), "-1"),
        (lambda: policy.add("new", value=math.inf), "inf"),
        (lambda: policy.decide("x", values={"a": -1.0}), "-1"),
        (lambda: policy.decide("x", most=0), "most"),
        (lambda: policy.decide("x", most=1), "group"),
        (lambda: policy.decide("x", pins={2: "a"}), "pin beyond"),
        (lambda: policy.decide("x", pins={0: "a", 1: "a"}), "pinned"),
        (lambda: policy.click("a0", 0, revision=1), "revision: there is no value"),
        (lambda: policy.click("a0", 0, value=-1.0), "-1"),
        (lambda: policy.click("a0", 0, value="1"), "value: must be real number, not str"),
        (lambda: policy.add("new", group=3), "group: "),
        (lambda: of_answers.add("a", value=3.0), "answers"),
        (lambda: ucb.add("a", value=3.0), "`cascade-kl-ucb`: .*no values"),
        (lambda: ucb.click("a0", 0, value=3.0), "`cascade-kl-ucb`: .*no values"),
        (lambda: valued("cascade-kl-ucb", values="answers"), "`cascade-kl-ucb`: .*no values"),
    ]:
        with pytest.raises((ValueError, TypeError), match=error):
            call()
    assert (policy.save(), of_answers.save(), ucb.save()) == saved
    assert policy.click("nobody", 0, value=1.0) == "unknown"
