"""Policies for users who differ: the small exact cases of the library, and what is refused."""

import copy
import json
import pathlib
import pickle

import numpy as np
import pytest
from click_bandits import Batch, Decision, Policy, policies, simulate

DATA = pathlib.Path(__file__).parents[2] / "crates" / "policies" / "tests" / "data" / "context.json"
NAMES = [row["name"] for row in policies() if row["contexts"] != "no"]
# Five items with two features, users with one, three segments.
FEATURES = np.array([[0.5, 1.0], [-1.0, 0.0], [0.0, 0.3], [1.2, -0.4], [0.1, 0.1]])
KNOWN = {"items": 5, "positions": 3, "item_features": FEATURES, "user_features": 1, "segments": 3}


def cases(kind):
    if not DATA.exists():
        pytest.skip("the small cases are in the repository only")
    return json.loads(DATA.read_text())[kind]


def told(case):
    known = {name: case[f"n_{name}"] for name in ("items", "positions", "user_features")}
    return {**known, "item_features": np.reshape(case["item_features"], (case["n_items"], -1))}


def learn(policy, case):
    """The rounds of a case, each as a decision that was made elsewhere: its action and its context
    are those of JSON."""
    for number, answer in enumerate(case["rounds"]):
        features = answer["features"] or None
        decision = json.loads(policy.select(features=features, segment=answer["segment"]).to_json())
        assert decision["notes"][0]["context"] == {"segment": answer["segment"], "features": answer["features"]}
        decision["actions"] = [answer["items"]]
        observed = None if policy.model == "pbm" else answer["observed"]
        policy.update(Decision.from_json(json.dumps(decision)), answer["clicks"], observed)
        if number % 2:
            policy = pickle.loads(pickle.dumps(policy))
    return policy


def assert_arrays(found, expected, names):
    assert list(found) == names
    for name in names:
        assert np.shape(found[name]) == np.shape(expected[name]) or not np.size(expected[name])
        np.testing.assert_allclose(found[name].ravel(), np.ravel(expected[name]), rtol=1e-9, atol=1e-9, err_msg=name)


def column(asked, name):
    return [item[name] for item in asked["items"]]


def test_hybrid_posteriors_are_those_of_the_small_cases():
    for case in cases("hybrid"):
        known = {"segments": case["n_segments"], "interactions": case["interactions"], **told(case)}
        if case["protocol"] == "pbm":
            known["examination"] = case["examination"]
        policy = learn(Policy("hybrid-ts", case["protocol"], **known), case)
        names = ["mean", "covariance", "item_means", "item_precisions", "cell_means", "cell_precisions", "deviations"]
        assert_arrays(policy.posterior(), case["state"], names)
        asked = case["asked"]
        scores = policy.scores(features=asked["features"] or None, segment=asked["segment"])
        names = ["mean", "shared_variance", "own_variance"]
        assert_arrays(scores, {name: column(asked, name) for name in names}, names)
        # The same lists without asking.
        same = Policy("hybrid-ts", case["protocol"], **known)
        lists = {name: [answer[name] for answer in case["rounds"]] for name in case["rounds"][0]}
        features = lists["features"] if known["user_features"] else None
        observed = None if case["protocol"] == "pbm" else lists["observed"]
        same.learn(lists["items"], lists["clicks"], observed, features=features, segments=lists["segment"])
        assert [array.tolist() for array in same.posterior().values()] == [
            array.tolist() for array in policy.posterior().values()
        ]


def test_linear_bounds_are_those_of_the_small_cases():
    for case in cases("linear"):
        ucb = {"c": case["c"], "sigma": case["sigma2"] ** 0.5}
        c3 = {"lambda": case["lam"], "delta": case["delta"], "r": case["r"]}
        for name, parameters, index in [("cascade-lin-ucb", ucb, "lin_ucb"), ("c3-ucb", c3, "c3_ucb")]:
            policy = learn(Policy(name, "cascade", **told(case), **parameters), case)
            assert_arrays(policy.posterior(), case, ["mean", "covariance"])
            asked = case["asked"]
            expected = {"mean": column(asked, "mean"), "width": column(asked, "width"), "index": column(asked, index)}
            assert_arrays(policy.scores(features=asked["features"]), expected, list(expected))


@pytest.fixture(params=NAMES)
def policy(request):
    return Policy(request.param, "cascade", **KNOWN, seed=3)


def users(n, seed=1):
    rng = np.random.default_rng(seed)
    return {"features": rng.normal(size=(n, 1)), "segments": rng.integers(0, 5, size=n)}


def test_a_batch_is_its_decisions(policy):
    other = copy.copy(policy)
    for rounds in range(5):
        of = users(40, rounds)
        batch = policy.select_batch(40, **of)
        single = [other.select(features=x, segment=g) for x, g in zip(of["features"], of["segments"])]
        assert list(batch) == single
        clicks = np.random.default_rng(rounds).random((40, 3)) < 0.2
        clicks[np.cumsum(clicks, axis=1) > 1] = False
        policy.update_batch(batch, clicks)
        for decision, answer in zip(single, clicks):
            other.update(decision, answer)
    assert policy.save() == other.save() == Policy.load(policy.save()).save()
    assert pickle.loads(pickle.dumps(batch)) == batch == Batch.from_json(batch.to_json())
    assert batch.take([3, 1])[0] == single[3]


def test_a_decision_is_learned_with_its_own_context():
    policy = Policy("hybrid-ts", "cascade", **KNOWN, seed=3)
    first = policy.select(features=[2.0], segment=0)
    late = copy.copy(policy)
    late.select(features=[-1.0], segment=2)
    for one in (policy, late):
        one.update(Decision.from_json(first.to_json()), [False, True, False])
    assert (policy.posterior()["mean"] == late.posterior()["mean"]).all() and policy.posterior()["mean"].any()
    # Only the cells of the decision's segment.
    assert policy.posterior()["cell_means"].any(axis=1).tolist() == [True, False, False]
    late.update(late.select(features=[1.0], segment=7), [True, False, False])
    assert late.posterior()["cell_means"].any(axis=1).tolist() == [True, False, False]


def test_a_segment_has_a_policy_of_its_own():
    policy = Policy("segmented", "pbm", items=5, examination=[0.9, 0.5], of="pbm-ts", segments=2, seed=1)
    for _ in range(200):
        decision = policy.select(segment=0)
        policy.update(decision, [item == 4 for item in decision.action])
    assert sum(policy.select(segment=0).action[0] == 4 for _ in range(50)) > 40
    assert sum(policy.select(segment=1).action[0] == 4 for _ in range(50)) < 40


def test_propensities_are_those_of_the_user():
    policy = Policy("hybrid-ts", "cascade", items=2, positions=1, item_features=[[1.0], [-1.0]], user_features=1, seed=1)
    x = np.random.default_rng(1).choice([-1.0, 1.0], size=(600, 1))
    for features in x:
        decision = policy.select(features=features)
        policy.update(decision, [(decision.action[0] == 0) == (features[0] > 0)])
    for sign in (1.0, -1.0):
        decision = policy.select(features=[sign], propensities=True, epsilon=0.0)
        assert decision.action == (0 if sign > 0 else 1,) and decision.list_propensity > 0.9


def test_wrong_contexts_are_refused():
    policy = Policy("hybrid-ts", "cascade", **KNOWN)
    batch = users(4)
    for call, error, words in [
        (lambda: policy.select(features=[1, 2], segment=0), ValueError, r"features: expected shape \(1,\), got \(2,\)"),
        (lambda: policy.select(features=1.0, segment=0), ValueError, r"expected shape \(1,\), got \(\)"),
        (lambda: policy.select(features=[np.nan], segment=0), ValueError, r"features\[0\] is NaN: expected a finite"),
        (lambda: policy.select(features=["a"], segment=0), TypeError, "features: expected numbers"),
        (lambda: policy.select(features=[1.0], segment=-1), ValueError, "segment is -1"),
        (lambda: policy.select(features=[1.0], segment=1.5), TypeError, "segment: expected an integer"),
        (lambda: policy.select(features=[1.0]), TypeError, "missing segment: .*told segments=3"),
        (lambda: policy.select(segment=1), TypeError, "missing features: .*told user_features=1"),
        (lambda: policy.select_batch(3, **batch), ValueError, r"features: expected shape \(3, 1\), got \(4, 1\)"),
        (
            lambda: policy.select_batch(4, features=batch["features"], segments=[1, 2]),
            ValueError,
            r"segments: expected shape \(4,\), got \(2,\)",
        ),
        (lambda: policy.scores(), TypeError, "missing features"),
        (lambda: policy.learn([0, 1, 2], [0, 0, 1]), TypeError, "missing features"),
        (lambda: Policy("hybrid-ts", "cascade", items=4, positions=1, item_features=FEATURES), ValueError, r"\(4, n\), got \(5, 2\)"),
        (lambda: Policy("hybrid-ts", "cascade", items=1, positions=1, item_features=[[np.inf]]), ValueError, r"item_features\[0, 0\] is inf"),
        (lambda: Policy("hybrid-ts", "cascade", items=2, positions=1, user_features=2048), ValueError, "at most 2,048"),
        (lambda: Policy("hybrid-ts", "cascade", items=2, positions=1, segments=0), ValueError, "segments is 0"),
        (lambda: Policy("hybrid-ts", "cascade", items=3, positions=1, segments=2**32 - 1), (ValueError, MemoryError), "cells|memory"),
        (lambda: Policy("hybrid-ts", "cascade", positions=1, item_features=FEATURES), ValueError, "missing items"),
        (lambda: Policy("c3-ucb", "cascade", items=3, positions=1), ValueError, "give item_features"),
        (lambda: Policy("c3-ucb", "pbm", items=3, positions=1, segments=2), ValueError, "does not play \"pbm\""),
        (lambda: Policy("cascade-ts", "cascade", items=3, positions=1, segments=2), TypeError, "unexpected segments"),
    ]:
        with pytest.raises(error, match=words):
            call()


def test_a_policy_without_contexts_gets_none():
    for name in ("cascade-ts", "hybrid-ts"):
        policy = Policy(name, "cascade", items=3, positions=1)
        for call in (
            lambda: policy.select(features=[1.0]),
            lambda: policy.select(segment=0),
            lambda: policy.select_batch(2, segments=[0, 1]),
            lambda: policy.scores(segment=0),
            lambda: policy.learn([0], [1], segments=0),
        ):
            with pytest.raises(TypeError, match="sees no contexts"):
                call()
    # Told nothing, it has a posterior all the same.
    assert policy.posterior()["mean"].shape == (1,) and policy.scores()["mean"].shape == (3,)
    with pytest.raises(ValueError, match="estimates no coefficients"):
        Policy("cascade-ts", "cascade", items=3, positions=1).posterior()


def test_decisions_of_other_contexts_are_refused():
    policy = Policy("hybrid-ts", "cascade", **KNOWN)
    decision = policy.select(features=[1.0], segment=0)
    for other in ({"user_features": 2}, {"segments": 4}):
        with pytest.raises(ValueError, match="segments 3, user features 1"):
            Policy("hybrid-ts", "cascade", **{**KNOWN, **other}).update(decision, [0, 0, 0])
    nobody = Policy("hybrid-ts", "cascade", items=5, positions=3)
    with pytest.raises(ValueError, match="a decision of"):
        nobody.update(decision, [0, 0, 0])
    saved = json.loads(decision.to_json())
    for note in ("nothing", {"context": {"segment": 0, "features": [1.0, 2.0]}}, {"number": 3}):
        with pytest.raises(ValueError, match="a note that .* does not write"):
            Decision.from_json(json.dumps({**saved, "notes": [note]}))


def test_damaged_policies_are_refused():
    saved = json.loads(Policy("hybrid-ts", "cascade", **KNOWN).save())
    for path, value in [
        (("policy", "state", "learner", "shared", "factor", 0), -1.0),
        (("policy", "state", "learner", "cells", "deviation"), 3.5),
        (("policy", "told", "context", "segments"), 4),
        (("policy", "told", "context", "item_features", 0), 9.0),
    ]:
        damaged = copy.deepcopy(saved)
        place = damaged
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        with pytest.raises(ValueError, match="no saved policy"):
            Policy.load(json.dumps(damaged).encode())


SPEC = {
    "name": "users-who-differ",
    "task": "regret",
    "horizon": 400,
    "runs": 2,
    "seed": 1,
    "policies": [{"policy": "hybrid-ts"}],
}
RANDOM = {"users": 40, "items": 12, "user-features": 2, "item-features": 1, "segments": 2, "main": 0.6, "segment": 0.8}


@pytest.mark.parametrize(
    "model", [{"model": "cascade", "positions": 3}, {"model": "dcm", "leave": [0.5] * 3}, {"model": "pbm", "kappa": [1.0, 0.5]}]
)
def test_own_policies_may_see_contexts(model):
    seen = []

    class Whole:
        def __init__(self, **known):
            assert known["item_features"].shape == (12, 1)
            self.policy = Policy("hybrid-ts", **{**known, "seed": 5})

        def select(self, context):
            seen.append(context["segment"])
            return self.policy.select(**context)

        def update(self, decision, clicks):
            self.policy.update(decision, clicks)

    class OfSegment(Whole):
        def select(self, segment):
            return range(5 * segment, 5 * segment + self.policy.sizes[1])

        def update(self, decision, clicks):
            pass

    def blind(model, items, positions, seed):
        return Policy("uniform", model, items=items, positions=positions, seed=seed)

    def direct(**known):
        return Policy("hybrid-ts", **{**known, "seed": 5})

    own = {"whole": Whole, "direct": direct, "of segment": OfSegment}
    if model["model"] != "pbm":
        own["blind"] = blind
    spec = {**SPEC, "instances": [{**model, "context": {"random": RANDOM}}]}
    result = simulate(spec, policies=own)
    assert set(seen) == {0, 1}
    assert (result.regret("whole") == result.regret("direct")).all()
    assert (result.regret("whole") != result.regret("of segment")).any()


def test_an_own_policy_that_fails_on_a_context_ends_the_experiment():
    class Fails:
        def select(self, context):
            raise RuntimeError(f"segment {context['segment']}")

    spec = {**SPEC, "instances": [{"model": "cascade", "positions": 3, "context": {"random": RANDOM}}]}
    with pytest.raises(RuntimeError, match="segment [01]"):
        simulate(spec, policies={"fails": Fails})
