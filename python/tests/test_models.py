"""Simulated users: shapes, seeds, frequencies."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from click_bandits import models
from every_model import USERS
from every_policy import pairs, users_of

PROTOCOLS = sorted({protocol for _, protocol in pairs()})
LISTS = [
    row.users(*row.parameters.values(), seed=1) for row in USERS.values() if hasattr(row.users, "best_list")
]


@pytest.mark.parametrize("users", LISTS, ids=lambda users: type(users).__name__)
def test_lists(users):
    best = users.best_list()
    assert len(set(best)) == 3
    assert users.expected_reward(best) == pytest.approx(users.best_reward, abs=1e-12) and users.regret(best) == 0
    items = users.known()["items"]
    lists = np.array(list(itertools.permutations(range(items), 3)))
    rewards = users.expected_reward(lists)
    assert rewards.shape == (len(lists),) and rewards.max() == pytest.approx(users.best_reward, abs=1e-12)
    np.testing.assert_allclose(users.regret(lists), users.best_reward - rewards, atol=1e-12)
    one, many, each = users.respond(best), users.respond(best, n=7), users.respond(lists)
    if isinstance(users, models.RandomSemiBandit):
        assert isinstance(one[1], int) and many[1].shape == (7,) and each[1].dtype == np.int64
        one, many, each = one[0], many[0], each[0]
    assert (one.shape, many.shape, each.shape) == ((3,), (7, 3), (len(lists), 3))
    assert one.dtype == many.dtype == each.dtype == bool
    assert users.respond(best, n=0)[0:1] is not None


def test_clicks_are_as_frequent_as_expected():
    """Means of 100,000 users. By Hoeffding the sum of clicks on 3 positions misses its mean by
    0.026 with probability 2e-6 a model."""
    for users in LISTS:
        if isinstance(users, models.DependentClick):
            # Its reward is satisfaction.
            users = models.DependentClick([0.45, 0.35, 0.25, 0.15], [0.4, 0.9, 0.2], reward="clicks", seed=5)
        best = users.best_list()
        clicks = users.respond(best, n=100_000)
        clicks = clicks[0] if isinstance(clicks, tuple) else clicks
        assert abs(clicks.sum(axis=1).mean() - users.best_reward) < 0.026
        # Another list is another number: the check has power.
        worst = list(range(users.known()["items"]))[::-1][:3]
        if users.regret(worst) > 0.06:
            clicks = users.respond(worst, n=100_000)
            clicks = clicks[0] if isinstance(clicks, tuple) else clicks
            assert abs(clicks.sum(axis=1).mean() - users.best_reward) > 0.026


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_seeds_and_copies(protocol):
    users, same, other = users_of(protocol, 1), users_of(protocol, 1), users_of(protocol, 2)
    action = {"rank-one": (1, 1), "dueling": (0, 1)}.get(protocol, (2, 0, 1))

    def drawn(of):
        response = of.respond(action, n=50)
        return np.concatenate([np.ravel(part) for part in (response if isinstance(response, tuple) else (response,))]).tolist()

    first = drawn(users)
    assert first == drawn(same) != drawn(other)
    for copied in (copy.deepcopy(users), pickle.loads(pickle.dumps(users)), type(users).from_json(users.to_json())):
        assert drawn(copied) == drawn(copy.copy(same))
    with pytest.raises(ValueError, match="no saved users"):
        type(users).from_json("{}")


def test_cells_and_pairs():
    cells = users_of("rank-one")
    assert cells.best_cell() == (0, 1)
    assert cells.expected_reward((0, 1)) == pytest.approx(0.8 * 0.9) == cells.best_reward
    np.testing.assert_allclose(cells.regret([(0, 1), (1, 2)]), [0, 0.72 - 0.15])
    assert isinstance(cells.respond((0, 1)), bool) and cells.respond((0, 1), 5).shape == (5,)
    # Hoeffding: 100,000 clicks miss their mean by 0.0085 with probability 1e-6.
    assert abs(cells.respond((0, 1), 100_000).mean() - 0.72) < 0.0085
    duels = users_of("dueling")
    assert duels.best_item() == 0 and duels.regret((0, 0)) == 0
    assert duels.respond((2, 4)) in (2, 4)
    winners = duels.respond((0, 4), 100_000)
    assert set(winners) == {0, 4} and abs((winners == 0).mean() - 0.82) < 0.0085
