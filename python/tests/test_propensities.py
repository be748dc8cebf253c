"""Propensities of `Policy` and `Live`, and logs with them that `evaluate` reads."""

import copy
import csv
import pickle

import numpy as np
import pytest
from click_bandits import Batch, Decision, Live, Policy, evaluate, models
from every_policy import policy_on, users_of

NAMES = [
    ("pbm-ts", "pbm"),
    ("pbm-gibbs", "pbm"),
    ("cascade-ucb1", "cascade"),
    ("rba-kl-ucb", "dcm"),
    ("epsilon-greedy", "clicks-only"),
    ("cascade-kl", "cascade"),
]
COLUMNS = "session user query item position click propensity prefix-propensity list-propensity".split()


def check(found, truth):
    """Every level is near the true value."""
    rows = {row["level"]: row for row in found.levels}
    assert set(rows) == {"list", "prefix", "position"}
    for row in rows.values():
        # Without models, `position` gives a number but does not answer.
        without_models = row["level"] == "position" and row["refused"].startswith("without models")
        assert (row["refused"] is None or without_models) and abs(row["value"] - truth) < 4 * row["se"]


@pytest.mark.parametrize(("name", "protocol"), NAMES)
def test_propensities_are_those_of_a_list_and_are_kept(name, protocol):
    policy = policy_on(name, protocol, users_of(protocol))
    for _ in range(20):
        decision = policy.select(propensities=True, draws=30, epsilon=0.1)
        items, prefixes = decision.propensities, decision.prefix_propensities
        assert len(items) == len(prefixes) == len(decision.action)
        assert all(0 < prefix <= item <= 1 for item, prefix in zip(items, prefixes))
        assert list(prefixes) == sorted(prefixes, reverse=True)
        assert decision.list_propensity == prefixes[-1] and items[0] == prefixes[0]
        for kept in [Decision.from_json(decision.to_json()), pickle.loads(pickle.dumps(decision))]:
            assert kept == decision and kept.propensities == items
        policy.update(decision, [False] * len(decision.action))
    # A copy continues with the same choices and propensities.
    for other in [Policy.load(policy.save()), copy.copy(policy)]:
        decisions = [one.select(propensities=True, draws=7) for one in (copy.copy(policy), other)]
        assert decisions[0] == decisions[1]
    plain = policy.select()
    assert plain.propensities is None and plain.prefix_propensities is None and plain.list_propensity is None
    assert "propensities" not in plain.to_json()


def test_mean_weights_are_1_in_a_log_that_evaluate_reads():
    users = models.PositionBased([0.5, 0.4, 0.3, 0.2], [0.9, 0.5], seed=1)
    log = {name: [] for name in COLUMNS}
    for session in range(6000):
        if session % 300 == 0:
            policy = Policy("pbm-ts", "pbm", items=4, examination=[0.9, 0.5], seed=session)
        decision = policy.select(propensities=True, draws=20, epsilon=0.1)
        clicks = users.respond(decision)
        policy.update(decision, clicks)
        for place, item in enumerate(decision.action):
            log["session"].append(session)
            log["user"].append(session)
            log["query"].append("all")
            log["item"].append(item)
            log["position"].append(place + 1)
            log["click"].append(int(clicks[place]))
            log["propensity"].append(decision.propensities[place])
            log["prefix-propensity"].append(decision.prefix_propensities[place])
            log["list-propensity"].append(decision.list_propensity)
    ranking = {"query": ["all", "all"], "item": [1, 0], "position": [1, 2]}
    found = evaluate(log, ranking, columns={name: name for name in log}, model="none")
    check(found, 0.4 * 0.9 + 0.5 * 0.5)


def test_the_log_of_a_live_policy_is_read_by_evaluate(tmp_path):
    attraction, world = {"a": 0.5, "b": 0.4, "c": 0.3, "d": 0.2}, np.random.default_rng(1)
    with open(tmp_path / "log.csv", "w", newline="") as file:
        log = csv.writer(file)
        log.writerow([*COLUMNS, "unused"])
        for visit in range(6000):
            if visit % 300 == 0:
                live = Live("pbm-ts", items=list(attraction), examination=[0.9, 0.5], propensities=True, draws=20, epsilon=0.1, seed=visit)
            shown = live.decide(visit)
            propensities = live.propensities(visit)
            for place, item in enumerate(shown):
                click = world.random() < attraction[item] * [0.9, 0.5][place]
                if click:
                    live.click(visit, place)
                of_list = propensities[-1][1]
                log.writerow([visit, visit, "all", item, place + 1, int(click), *propensities[place], of_list, ""])
            live.close(visit)
    (tmp_path / "new.csv").write_text("query,position,item\nall,1,b\nall,2,a\n")
    columns = {name: name for name in COLUMNS}
    found = evaluate(tmp_path / "log.csv", tmp_path / "new.csv", format="delimited", columns=columns, model="none")
    check(found, 0.4 * 0.9 + 0.5 * 0.5)


def test_what_has_no_propensities_is_refused():
    policy = Policy("cascade-ts", "cascade", items=4, positions=2, seed=1)
    for given, message in [
        ({"draws": 0}, "0 draws of a list: expected 1 to 10000"),
        ({"draws": 20000}, "20000 draws of a list"),
        ({"draws": -1}, "draws"),
        ({"epsilon": 1.5}, "epsilon: 1.5 is not from 0 to 1"),
        ({"epsilon": float("nan")}, "epsilon: NaN is not from 0 to 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            policy.select(propensities=True, **given)
    for name, protocol in [("uts", "rank-one"), ("rmed1", "dueling")]:
        other = policy_on(name, protocol, users_of(protocol))
        before = other.save()
        with pytest.raises(ValueError, match=f"propensities: `{name}` chooses no lists"):
            other.select(propensities=True)
        assert other.save() == before
    text = policy.select(propensities=True).to_json()
    for old, new in [('"prefix":', '"prefix":7'), ('"propensities":[', '"propensities":[{"item":0.5,"prefix":0.5},')]:
        with pytest.raises(ValueError, match="the propensities are not those of its list"):
            Decision.from_json(text.replace(old, new))
    batch = policy.select_batch(3)
    assert Batch.from_json(batch.to_json()) == batch and batch[0].propensities is None
