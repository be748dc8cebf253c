"""Bounds of instances against the library's golden vectors, its doctests and formulas written
here."""

import inspect
import math
import re

import numpy as np
import pytest
from click_bandits import bounds, models

THETA, KAPPA = [0.45, 0.35, 0.25, 0.15, 0.05], [0.9, 0.6, 0.3]
HIGH = [0.95, 0.85, 0.75, 0.65, 0.55]
TWO = [[0.5, 0.75], [0.25, 0.5]]


def close(found, expected, rtol=1e-12):
    np.testing.assert_allclose(found, expected, rtol=rtol)


def kl(p, q):
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))


def test_position_based():
    close(bounds.pbm_lower_bound(THETA, KAPPA), 5.591949170057202)
    terms = bounds.pbm_lower_bound_terms(HIGH, KAPPA)
    assert [(term["item"], term["position"]) for term in terms] == [(3, 0), (4, 0)]
    close(sum(term["cost"] for term in terms), bounds.pbm_lower_bound(HIGH, KAPPA))
    assert bounds.pbm_lower_bound_terms([0.5, 0.5], [0.3]) == [{"item": 1, "position": None, "cost": 0.0}]
    cost = sum(0.3 * (0.75 - k) / kl(0.3 * k, 0.3 * 0.75) for k in (0.65, 0.55))
    close(bounds.pbm_last_position_cost(HIGH, KAPPA), cost, rtol=1e-9)
    eta, epsilon = np.array([0.0, 0.01, 0.04]), 0.1
    expected = [1.1**2 * sum(0.3 * (0.75 - k) / kl(0.3 * k, 0.3 * (0.75 - e)) for k in (0.65, 0.55)) for e in eta]
    close(bounds.pbm_pie_upper_bound(HIGH, KAPPA, eta, epsilon), expected, rtol=1e-9)
    close(bounds.pbm_ucb_examination_factor(KAPPA), 43)
    close(bounds.smallest_permutation_gap(THETA, KAPPA), 0.03)
    close(bounds.pbm_ucb_upper_bound(THETA, KAPPA, [0.0, 1.0]), [103200, 206400])
    with pytest.raises(ValueError, match=r"pbm_pie_upper_bound\[1\]: expected an eta of 0 or below half"):
        bounds.pbm_pie_upper_bound(THETA, KAPPA, [0.0, 0.06], 0.0)


def test_cascade():
    close(bounds.cascade_lower_bound([0.2, 0.2, 0.05, 0.05], 2), 2 * 0.15 * 0.8 / kl(0.05, 0.2))
    plain = bounds.cascade_lower_bound([0.5, 0.4, 0.2], 2)
    close(bounds.weighted_cascade_lower_bound([0.5, 0.4, 0.2], [3, 3]), 3 * plain)
    close(bounds.weighted_cascade_lower_bound([0.5, 0.4, 0.2], [1, 0.5]), 0.5 * 0.2 / kl(0.2, 0.4))
    users = models.Cascade([0.5, 0.4, 0.2], 2, weights=[1, 0.5], seed=1)
    close(users.lower_bound(), 0.5 * 0.2 / kl(0.2, 0.4))
    close(users.best_reward, 0.5 + 0.5 * 0.5 * 0.4)
    both = bounds.multiple_play_lower_bound([0.2, 0.2, 0.05, 0.05], [1, 2])
    close(both, [2 * 0.15 / kl(0.05, 0.2)] * 2)
    with pytest.raises(ValueError, match="weights that do not rise"):
        bounds.weighted_cascade_lower_bound([0.5, 0.4, 0.2], [0.5, 1])
    with pytest.raises(ValueError, match=r"weights\[1\] is -1: expected a finite number that is at least 0"):
        bounds.weighted_cascade_lower_bound([0.5, 0.4, 0.2], [0.5, -1])


def test_identification():
    assert bounds.cascade_bai_observations(0.05, 0.05, 10) == 669_249
    assert bounds.cascade_bai_observations_corrected(0.05, 0.05, 10) == 794_241
    assert bounds.cascade_bai_observations([0.0, 0.05], 0.05, 10).tolist() == [math.inf, 669_249]
    close(bounds.cascade_bai_lower_bound([0.25, 0.75], 1, 0.1), math.log(1 / 0.24) * 4 / math.log(3))
    found = bounds.cascade_bai_lower_bound_unrounded([0.25, 0.75], 1, [0.1, 0.3])
    close(found, [kl(0.9, 0.1) * 4 / math.log(3), kl(0.7, 0.3) * 4 / math.log(3)])
    close(bounds.cascade_bai_n1_bound([0.25, 0.5], [0.125, 0.25], 4, 0.1), [16 * math.log(160), 128 * math.log(1280)])
    needed = bounds.cascade_bai_observations(0.25, 0.1, 10)
    close(bounds.cascade_bai_two_level_upper_bound(0.5, 0.25, 10, 2, 0.1), 2 * (10 * needed - 9) + 8 * math.log(20))
    close(bounds.cascade_bai_two_level_lower_bound(0.75, 0.25, 4, 2, 0.1), kl(0.9, 0.1) / 1.75 * 4 / (0.5 * math.log(3)))
    lower, upper = bounds.cascade_bai_two_level_rates([0.5, 0.75, 0.75], [0.25, 0.5, 0.25], 10, 2)
    np.testing.assert_allclose(lower, [10, 20, math.nan])
    np.testing.assert_allclose(upper, [80, 120, math.nan])
    close(bounds.expected_observations([0.5, 0.2, 0.9]), 1.9)
    close(bounds.cascade_fewest_observations([0.1, 0.5, 0.8], [1, 2]), [1, 1.2])
    close(bounds.cascade_most_observations([0.1, 0.5, 0.8], 2), 1.9)
    close(bounds.cascade_observations_deviation([1.0, 1.0], 2), math.sqrt(2))
    gaps = bounds.cascade_bai_gaps([0.25, 0.75, 0.5], 1, 0.25)
    assert gaps["n_acceptable"] == 2 and gaps["plain"].tolist() == [0.25, 0.25, 0.5]
    assert gaps["tolerant"].tolist() == [0.5, 0.25, 0.25]
    terms = bounds.cascade_bai_upper_terms([0.9, 0.9, 0.1, 0.1], 2, 0.0, 0.1)
    close(terms["n2"] * 1.1, 2 * terms["observations"][0])
    assert terms["n3"] == 0 and (terms["observations"] == bounds.cascade_bai_observations(0.8, 0.1, 4)).all()
    n1, n2 = bounds.cascade_bai_tolerant_upper_terms([0.75, 0.25], 1, 0.0, 0.1)
    close([n1, n2], [2 * math.log(20), 4 * bounds.cascade_bai_observations(0.5, 0.1, 2)])
    with pytest.raises(ValueError, match="cascade_bai_upper_terms: expected gaps above 0"):
        bounds.cascade_bai_upper_terms([0.5, 0.5], 1, 0, 0.1)
    with pytest.raises(ValueError, match=r"n_positions is 4503599627370496: expected a whole number from 0 to 2\^20"):
        bounds.cascade_bai_two_level_lower_bound(0.5, 1e-9, 2**53, 2**52, 0.1)


def test_rank_one():
    rows, columns = [0.75, 0.25], [0.5, 0.5]
    hardness = bounds.rank_one_hardness(rows, columns)
    assert (hardness["mu"], hardness["p_max"], hardness["gamma"]) == (0.5, 0.75, 0.5)
    assert (hardness["smallest_row_gap"], hardness["smallest_column_gap"]) == (0.5, None)
    assert hardness["row_gaps"].tolist() == [0, 0.5] and hardness["column_gaps"].tolist() == [0, 0]
    assert models.RankOne(rows, columns).hardness()["mu"] == 0.5
    constant = (6 * math.e + 82) * 4
    found = bounds.rank_one_upper_bound_corrected(rows, rows, [4, 100, 1000])
    close(found, [math.inf, *(320 * 4 * 8 * math.log(n) + constant for n in (100, 1000))])
    printed = bounds.rank_one_upper_bound(rows, rows, [100, 1000])
    close(found[1:] - constant, 2 * (printed - constant))


def test_dueling():
    assert bounds.rucb_log_coefficient(TWO, 2.0) == 16
    assert bounds.rucb_duels(TWO, 2.0).tolist() == [[0, 128], [128, 0]]
    settled = (7 * 4 / (3 * 0.5)) ** (1 / 3)
    close(bounds.rucb_settled_after(2, 2.0, [0.5, 1]), [settled, (28 / 3) ** (1 / 3)])
    close(bounds.rucb_settled_after(2, 1, 0.01), 1200)
    close(bounds.rucb_high_probability_bound(TWO, 2.0, 0.5, [1, 1000]), [0.25 * settled, 0.25 * settled + 16 * math.log(1000)])
    expected = 0.25 * (28 / 3) ** (1 / 3) * 3 / 2 + 16 * math.log(1000)
    close(bounds.rucb_expected_bound(TWO, [2.0, 1.0], 1000), [expected, math.inf])
    close(bounds.dueling_lower_bound(np.array(TWO)), 0.25 / (2 * kl(0.25, 0.5)))
    # The Copeland regret of a duel of the winner with the other item is a half of the other's
    # loss, 1.
    close(bounds.copeland_lower_bound(np.array(TWO)), 0.5 / kl(0.25, 0.5))
    with pytest.raises(ValueError, match="copeland_lower_bound: expected no two items that are as good as each other"):
        bounds.copeland_lower_bound([[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(ValueError, match=r"rucb_expected_bound\[0\]: expected an item that beats all others"):
        bounds.rucb_expected_bound(TWO, 2, [0, 10])
    with pytest.raises(ValueError, match="rucb_settled_after: expected at least 2 items"):
        bounds.rucb_settled_after(1, 2, 0.1)
    with pytest.raises(TypeError, match=r"preferences\[1\]: expected a sequence of numbers"):
        bounds.dueling_lower_bound([[0.5, 0.7], 3])


def test_characteristic_time():
    # One position: a bandit with two arms. By symmetry, both are shown half of the time.
    close(bounds.cascade_characteristic_time([0.25, 0.75], [1, 2]), [1 / kl(0.75, 0.5), 0.0], rtol=1e-6)
    mixture = bounds.cascade_optimal_mixture([0.25, 0.75], 1)
    assert sum(share for _, share in mixture) == pytest.approx(1)
    assert sum(share for items, share in mixture if items == [0]) == pytest.approx(0.5, abs=1e-3)
    assert bounds.cascade_characteristic_time([0.5, 0.5], 1) == math.inf
    for call in (bounds.cascade_characteristic_time, bounds.cascade_optimal_mixture):
        with pytest.raises(ValueError, match="expected at least one position, and at least as many items as positions"):
            call([0.25, 0.75], 3)


def test_rank_one_lower_bound():
    # One column: a bandit with two arms.
    close(bounds.rank_one_lower_bound([0.75, 0.25], [1.0]), 0.5 / kl(0.25, 0.75))
    with pytest.raises(ValueError, match=r"rows\[0\] is 2, not a probability"):
        bounds.rank_one_lower_bound([2.0], [0.5])


# An instance by the name of its argument, and numbers that go with it.
INSTANCES = {
    "theta": [0.4, 0.3, 0.1], "kappa": [0.9, 0.5], "leave": [0.5, 0.2], "weights": [0.5, 0.3, 0.1], "list": [0.5, 0.3],
    "rows": [0.5, 0.2], "columns": [0.8, 0.3], "preferences": TWO, "n_positions": 1, "k": 1, "delta": 0.1, "epsilon": 0.0,
    "eta": 0.0, "alpha": 2.0, "rounds": 10, "horizon": 10,
}  # fmt: skip


def test_an_array_of_instances_is_refused_by_name_and_shape():
    """Not by numpy, which knows neither."""
    refused = 0
    for function in (getattr(bounds, name) for name in bounds.__all__):
        names = list(inspect.signature(function).parameters)
        for name in names:
            if not isinstance(INSTANCES.get(name), list):
                continue
            several = np.array([INSTANCES[name]] * 4)
            shape = re.escape(str(several.shape))
            values = {other: INSTANCES[other] for other in names}
            with pytest.raises(ValueError, match=rf"^{name}: expected shape \(n,(?: m)?\), got {shape}"):
                function(**{**values, name: several})
            with pytest.raises((TypeError, ValueError), match=rf"^{name}(\[0\](\[0\])?: expected a number, got an array of shape|: expected shape)"):
                function(**{**values, name: list(several) if several.ndim == 2 else [list(matrix) for matrix in several]})
            with pytest.raises((TypeError, ValueError), match=rf"^{name}(\[0\](\[0\])?: expected a number, got a list of length|: expected shape)"):
                function(**{**values, name: several.tolist()})
            refused += 1
    assert refused >= 30
    with pytest.raises(TypeError, match=r"n_positions: expected an integer, got an array of shape \(2,\)"):
        bounds.cascade_optimal_mixture([0.5, 0.3, 0.1], np.array([1, 2]))
