"""Clicks reach the policies as they were meant.

Each check would fail for reversed positions, for winners that lose and for prefixes of another
length: the regret of these policies is then that of a wrong list. Seeds are fixed. A policy that
learns nothing has the regret of a random action.
"""

import json
import pickle

import numpy as np
import pytest
from click_bandits import Decision, Policy, models
from every_policy import answer_of, policy_on, users_of

GAME = [
    ("pbm-ts", "pbm"),
    ("rsf-ts", "semi-bandit"),
    ("cascade-ts", "cascade"),
    ("dcm-ts", "dcm"),
    ("epsilon-greedy", "clicks-only"),
    ("uts", "rank-one"),
    ("rmed1", "dueling"),
]


@pytest.mark.parametrize(("name", "protocol"), GAME)
def test_regret_falls_far_below_that_of_random_actions(name, protocol):
    users = users_of(protocol)
    policy, random = policy_on(name, protocol, users), policy_on("uniform", protocol, users)
    for _ in range(40):
        batch = policy.select_batch(100)
        policy.update_batch(batch, *answer_of(users, batch))
    learned = np.mean(users.regret(policy.select_batch(1000)))
    assert learned < 0.35 * np.mean(users.regret(random.select_batch(1000)))


def test_the_winner_wins():
    users = users_of("dueling")
    policy = policy_on("rucb", "dueling", users)
    for _ in range(3000):
        decision = policy.select()
        policy.update(decision, users.respond(decision))
    assert policy.recommend() == [users.best_item()] == [0]


def test_a_policy_that_stops():
    users = models.Cascade([0.9, 0.8, 0.2, 0.1], 2, seed=3)
    policy = Policy("cascade-kl", items=4, positions=2, seed=3)
    assert policy.answer is None
    rounds = 0
    while policy.answer is None:
        decision = policy.select()
        policy.update(decision, users.respond(decision))
        rounds += 1
        assert rounds < 100_000
    assert policy.answer == [0, 1] and users.are_best(policy.answer)
    assert sorted(policy.recommend()) == [0, 1]
    assert Policy.load(policy.save()).answer == [0, 1]


def test_observed_positions_count():
    """An item below the observed prefix is not counted: its mean stays unknown, so that it is shown
    at the top."""
    seen, all_seen = (Policy("rsf-ucb", "semi-bandit", items=3, positions=3, seed=1) for _ in range(2))
    for _ in range(20):
        for policy, observed in ((seen, 1), (all_seen, None)):
            decision = policy.select()
            policy.update(decision, [False, False, False], observed)
    assert seen.save() != all_seen.save()
    shown = Policy("rsf-ucb", "semi-bandit", items=3, positions=3, seed=1)
    for _ in range(20):
        decision = shown.select()
        shown.update(decision, [0, 0, 0], observed=np.int64(3))
    assert shown.save() == all_seen.save()


def test_clicks_may_be_lists_tuples_or_arrays_of_any_stride():
    row = np.array([True, False, True, False])
    answers = [
        [True, False, True, False],
        (1, 0, 1, 0),
        row,
        row.astype(np.uint8),
        row.astype(np.int64),
        np.array([0, 1, 0, 1], dtype=np.int16)[::-1],
        np.repeat(row, 2)[::2],
        [np.True_, np.False_, np.int8(1), False],
    ]
    saved = set()
    for clicks in answers:
        policy = Policy("pbm-ts", items=9, examination=[0.9, 0.8, 0.7, 0.6], seed=1)
        policy.update(policy.select(), clicks)
        saved.add(policy.save())
    assert len(saved) == 1
    rows = np.array([[1, 0, 1, 0], [0, 0, 0, 1]])
    saved = set()
    for clicks in (rows, rows == 1, np.asfortranarray(rows), rows.tolist(), np.repeat(rows, 3, 1)[:, ::3], rows[::-1][::-1]):
        policy = Policy("pbm-ts", items=9, examination=[0.9, 0.8, 0.7, 0.6], seed=1)
        policy.update_batch(policy.select_batch(2), clicks)
        saved.add(policy.save())
    assert len(saved) == 1


def test_lists_shorter_than_the_positions():
    """`batrac(pulls=one)` shows one item at a time, to users who examine it for sure."""
    attraction = [0.9, 0.8, 0.2, 0.1]
    policy = Policy("batrac", items=4, positions=2, pulls="one", radius_scale=0.5, seed=1)
    decision = policy.select()
    assert len(decision.action) == 1 and Decision.from_json(decision.to_json()) == decision
    with pytest.raises(ValueError, match=r"expected shape \(1,\), got \(2,\)"):
        policy.update(decision, [0, 0])
    policy.update(decision, [1])
    rng = np.random.default_rng(1)
    for _ in range(2000):
        batch = policy.select_batch(4)
        assert (batch.actions[:, 1] == -1).all() and pickle.loads(pickle.dumps(batch)) == batch.take(range(4)) == batch
        clicks = np.zeros((4, 2), bool)
        clicks[:, 0] = rng.random(4) < np.take(attraction, batch.actions[:, 0])
        policy.update_batch(batch, clicks)
        if policy.answer is not None:
            break
    assert policy.answer == [0, 1]
    with pytest.raises(ValueError, match="only 1 positions were observed"):
        policy.update_batch(policy.select_batch(1), [[0, 1]])


def test_an_item_compared_with_itself_wins_half_of_the_time():
    """Beat the Mean counts its wins. Otherwise every item would win against itself, and its mean
    would be too high."""
    users = models.Dueling([[0.5, 0.5], [0.5, 0.5]], seed=1)
    policy = Policy("beat-the-mean", items=2, horizon=10**6, seed=1)
    for _ in range(100):
        batch = policy.select_batch(100)
        policy.update_batch(batch, users.respond(batch))
    state = json.loads(policy.save())["policy"]["state"]
    wins, duels = (state[key][0] + state[key][3] for key in ("wins", "duels"))
    # About 5000 tosses: seven standard deviations. An item that always won against itself would
    # have 1.
    assert duels > 2000 and abs(wins / duels - 0.5) < 3.5 / duels**0.5
