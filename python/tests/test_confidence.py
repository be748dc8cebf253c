"""Divergences, sequences, levels and coverage bounds against formulas written here and values of
the library's doctests."""

import math

import numpy as np
import pytest
from click_bandits import confidence

RNG = np.random.default_rng(1)


def close(found, expected, rtol=1e-12):
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-300)


def kl(p, q):
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))


def root(excess, low, high):
    """Where `excess` changes its sign, by bisection."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if (excess(middle) > 0) == (excess(high) > 0) else (middle, high)
    return (low + high) / 2


FAMILIES = {
    "gaussian": (lambda p, q: (p - q) ** 2 / (2 * 0.25), [0.25]),
    "poisson": (lambda p, q: q - p + p * math.log(p / q), []),
    "exponential": (lambda p, q: p / q - 1 - math.log(p / q), []),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_families(family):
    divergence, more = FAMILIES[family]
    of = {name: getattr(confidence, f"{family}_{name}") for name in ("kl", "kl_derivative", "kl_ucb_upper", "kl_ucb_lower")}
    for p, q in RNG.uniform(0.1, 4, (50, 2)):
        close(of["kl"](p, q, *more), divergence(p, q), rtol=1e-9)
        step = 1e-5
        slope = (divergence(p, q + step) - divergence(p, q - step)) / (2 * step)
        np.testing.assert_allclose(of["kl_derivative"](p, q, *more), slope, rtol=1e-5, atol=1e-8)
        close(of["kl_ucb_upper"](p, 10, 2, *more), root(lambda u: 10 * divergence(p, u) - 2, p, p + 50), rtol=1e-9)
        lowest = p - 50 if family == "gaussian" else 1e-12
        close(of["kl_ucb_lower"](p, 10, 2, *more), root(lambda u: 10 * divergence(p, u) - 2, lowest, p), rtol=1e-8)
    assert of["kl_ucb_upper"](1.0, 0, 1, *more) == math.inf
    assert confidence.bernoulli_kl_derivative(0.5, 0.25) == -4 / 3


def test_coverage_bounds():
    close(confidence.kl_ucb_coverage_bound(1000, 15), 104 * math.exp(-14))
    close(confidence.pbm_ucb_coverage_bound(100, 10, constants="printed"), 10 * math.log(100) * math.exp(-9))
    close(confidence.pbm_ucb_coverage_bound(100, 10), math.ceil(10 * math.log(100)) * math.exp(-9))
    close(confidence.multi_position_coverage_bound(100, 20, 1), 93 * 20 * math.exp(-18))
    assert confidence.multi_position_coverage_bound(100, [3.0, math.inf], 3).tolist() == [1.0, 0.0]
    close(confidence.lil_coverage_bound([0.05, 0.9]), [0.015, 1.0])
    assert (confidence.lil_scale(), confidence.lil_scale(constants="printed")) == (2.0, 4.0)
    close(confidence.lil_rho(0.1, [128, 12]), [math.sqrt(0.1 / 1536), math.sqrt(0.1 / 144)])
    close(confidence.lil_rho(0.1, 128, constants="printed"), 0.1 / 1536)
    close(confidence.rucb_coverage_bound(1200, 2, 1), 0.01)
    with pytest.raises(ValueError, match="constants is `print`: expected corrected or printed; did you mean `printed`"):
        confidence.lil_scale(constants="print")


def test_exploration_levels():
    t = np.array([0, 1, 2, 20, 10**6])
    log = np.log(np.maximum(t, 1))
    close(confidence.exploration_level(t), log)
    close(confidence.exploration_level(t, epsilon=[[0.0], [0.5]]), [log, 1.5 * log])
    for factor in (3, 4):
        found = confidence.exploration_level(t, rate=f"log-t-{factor}-log-log-t")
        close(found, np.maximum(0, log + factor * np.log(np.maximum(log, 1e-9))))
    with pytest.raises(ValueError, match="the rate `log-t-3-log-log-t` has none"):
        confidence.exploration_level(5, rate="log-t-3-log-log-t", epsilon=0.0)
    with pytest.raises(ValueError, match="rate is `log`: expected one of"):
        confidence.exploration_level(5, rate="log")


def log_beta_of_counts(ones, zeros):
    """ln B(1 + ones, 1 + zeros) from the exact integer."""
    n = ones + zeros
    return -math.log((n + 1) * math.comb(n, ones))


def test_mixtures_from_counts():
    for ones, zeros in [(1, 1), (3, 97), (50, 50), (12345, 678)]:
        n, mean = ones + zeros, ones / (ones + zeros)
        entropy = ones * math.log(mean) + zeros * math.log(1 - mean)
        level = math.log(20) - log_beta_of_counts(ones, zeros) + entropy
        close(confidence.beta_mixture_level(ones, zeros, 0.05), level, rtol=1e-9)
        lower, upper = confidence.beta_mixture_interval(ones, zeros, 0.05)
        close([n * kl(mean, lower), n * kl(mean, upper)], level, rtol=1e-7)
        lower, upper = confidence.kl_mixture_interval(ones, zeros, 0.05)
        level = 3 * math.log(1 + math.log(n)) + confidence.mixture_threshold(math.log(20))
        close(confidence.kl_mixture_level(n, 0.05), level)
        close([n * kl(mean, lower), n * kl(mean, upper)], level, rtol=1e-7)
    # One failure: (1/2) / (1 - q) = 20.
    close(confidence.beta_mixture_interval(0, 1, 0.05), (0.0, 0.975), rtol=1e-13)
    assert confidence.beta_mixture_interval(0, 0, 0.05) == confidence.kl_mixture_interval(0, 0, 0.05) == (0.0, 1.0)
    lower, upper = confidence.beta_mixture_interval(np.arange(3)[:, None], np.arange(4), 0.1)
    assert lower.shape == upper.shape == (3, 4)
    # T(x) by its definition, with h inverted by bisection.
    def inverse(y):
        return root(lambda u: u - math.log(u) - y, 1, 2 * y + 2)

    def g(y):
        u = inverse(y)
        switch = 1 / math.log(1.5)
        return math.exp(1 / u) * u if y >= switch - math.log(switch) else 1.5 * (y - math.log(math.log(1.5)))

    for x in (0.0, 0.5, 3.0, 40.0):
        # h is flat at 1: there the bisection has half of the digits.
        close(confidence.mixture_threshold(x), 2 * g((inverse(1 + x) + math.log(math.pi**2 / 3)) / 2), rtol=1e-7)


def plug_in(x, miss):
    """Bets and means of Waudby-Smith and Ramdas, from their formulas."""
    total, squares, before = 0.0, 0.0, []
    for i, value in enumerate(x):
        variance = (0.25 + squares) / (i + 1)
        bet = math.sqrt(2 * math.log(2 / miss) / (variance * (i + 1) * math.log(i + 2)))
        before.append((bet, (0.5 + total) / (i + 1)))
        total += value
        squares += (value - (0.5 + total) / (i + 2)) ** 2
    return before


def test_empirical_bernstein():
    x, miss = RNG.beta(3, 9, 300), 0.05
    lower, upper = confidence.empirical_bernstein_sequence(x, miss)
    bets, weighted, cost = 0.0, 0.0, 0.0
    for value, (bet, mean), low, high in zip(x, plug_in(x, miss), lower, upper):
        bet = min(bet, 0.5)
        cost += (value - mean) ** 2 * (-math.log(1 - bet) - bet)
        bets, weighted = bets + bet, weighted + bet * value
        radius = (math.log(2 / miss) + cost) / bets
        close([low, high], [max(weighted / bets - radius, 0), min(weighted / bets + radius, 1)], rtol=1e-9)


def test_betting():
    x, miss, cells = RNG.beta(3, 9, 200), 0.05, 40
    lower, upper = confidence.hedged_betting_sequence(x, miss, cells)
    rejected = np.zeros((cells + 1, len(x)), bool)
    for place in range(cells + 1):
        m = place / cells
        rejected[place] = confidence.betting_rejections(x, m, miss)
        plus = minus = 1.0
        out = False
        for i, (value, (bet, _)) in enumerate(zip(x, plug_in(x, miss))):
            plus *= 1 + min(bet, 0.5 / m if m else math.inf) * (value - m)
            minus *= 1 - min(bet, 0.5 / (1 - m) if m < 1 else math.inf) * (value - m)
            out |= max(plus, minus) / 2 >= 1 / miss
            assert rejected[place, i] == out
    kept = [np.flatnonzero(~rejected[:, i]) for i in range(len(x))]
    assert lower.tolist() == [max(places[0] - 1, 0) / cells for places in kept]
    assert upper.tolist() == [min(places[-1] + 1, cells) / cells for places in kept]
    assert lower[-1] > 0.1 and upper[-1] < 0.4


@pytest.mark.parametrize("name", ["beta_mixture", "kl_mixture"])
def test_sequences_are_the_intervals_of_their_counts(name):
    x = RNG.integers(0, 2, (2, 3, 40))
    lower, upper = getattr(confidence, f"{name}_sequence")(x, 0.1)
    ones = x.cumsum(axis=2)
    expected = getattr(confidence, f"{name}_interval")(ones, np.arange(1, 41) - ones, 0.1)
    assert (lower == expected[0]).all() and (upper == expected[1]).all() and lower.shape == x.shape


@pytest.mark.parametrize("name", ["beta_mixture", "kl_mixture", "empirical_bernstein", "hedged_betting"])
def test_sequences_rarely_miss(name):
    """At most 80 of 400 series may ever miss in expectation; by Hoeffding more than 120 do so with
    probability 4e-4. A bound at fixed n would miss more."""
    x = RNG.random((400, 500)) < 0.3
    lower, upper = getattr(confidence, f"{name}_sequence")(x.astype(float), 0.2)
    assert ((lower > 0.3) | (upper < 0.3)).any(axis=1).sum() <= 120
    assert (upper - lower)[:, -1].mean() < 0.3
    for odd in (x[:, :0], x[:0]):
        assert getattr(confidence, f"{name}_sequence")(odd.astype(float), 0.2)[0].shape == odd.shape


def test_multi_position_divergence():
    close(confidence.multi_position_divergence([2], [4], [0.5], 0.5), 4 * math.log(4 / 3) / 2)
    close(np.ravel(confidence.multi_position_minimum([3], [10], [0.5]))[0], 0.6)
    clicks, shows, kappa = np.array([[3, 1], [0, 0], [9, 2]]), np.array([[9, 8], [0, 0], [20, 9]]), [0.9, 0.4]
    theta, least = confidence.multi_position_minimum(clicks, shows, kappa)
    assert np.isnan(theta[1]) and np.isnan(least[1])
    for item in (0, 2):
        def phi(q):
            return sum(n * kl(s / n, k * q) for s, n, k in zip(clicks[item], shows[item], kappa))

        grid = np.linspace(0.01, 0.99, 99)
        found = confidence.multi_position_divergence(clicks[item], shows[item], kappa, grid)
        close(found, [phi(q) for q in grid], rtol=1e-9)
        close(least[item], phi(theta[item]), rtol=1e-9)
        assert least[item] <= found.min() and abs(theta[item] - grid[found.argmin()]) <= 0.01
    # Items and levels broadcast.
    levels = np.array([[5.0], [9.0]])
    many = confidence.multi_position_upper(clicks, shows, kappa, levels)
    assert many.tolist() == [[confidence.multi_position_upper(c, s, kappa, level) for c, s in zip(clicks, shows)] for level in (5.0, 9.0)]
    assert confidence.multi_position_upper(clicks[None], shows[None], kappa, 5.0).shape == (1, 3)
    with pytest.raises(ValueError, match=r"shapes do not broadcast: level \(2,\), items \(3,\)"):
        confidence.multi_position_upper(clicks, shows, kappa, [1.0, 2.0])
