//! Dueling bandits: a lower bound on the regret, and upper bounds for RUCB.

use super::non_negative;
use crate::elementwise::{elementwise, size, whole};
use numpy::{PyArray1, PyArrayMethods};

elementwise! {
    /// Lower bound on the regret of uniformly efficient policies in dueling bandits, per ln t:
    /// Komiyama et al. 2015, Theorem 2.
    ///
    /// Args:
    ///     preferences: probability that the item of the row is preferred to that of the column,
    ///         shape (items, items).
    ///
    /// Raises:
    ///     ValueError: no matrix of preferences, or no item beats all others.
    ///
    /// Examples:
    ///     >>> preferences = [[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]]
    ///     >>> round(dueling_lower_bound(preferences), 4)
    ///     3.2614
    dueling_lower_bound([preferences: matrix]), otherwise "an item that beats all others";

    /// Lower bound on the Copeland regret of uniformly efficient policies in dueling bandits, per
    /// ln t, also without an item that beats all others: Komiyama et al. 2016, Theorem 2. Arguments
    /// as of `dueling_lower_bound`.
    ///
    /// Raises:
    ///     ValueError: no matrix of preferences, two items as good as each other, or more than 32
    ///         items.
    ///
    /// Examples:
    ///     >>> preferences = [[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]]
    ///     >>> round(copeland_lower_bound(preferences), 4)
    ///     16.307
    copeland_lower_bound([preferences: matrix]), otherwise "no two items that are as good as each other, and at most 32 items";

    /// C(delta), the round after which all confidence intervals of RUCB hold with probability 1 -
    /// delta: RUCB paper, Lemma 1.
    ///
    /// Args:
    ///     n_items: numbers of items, at least 2, any shape.
    ///     alpha: RUCB's parameter, above 1/2.
    ///     delta: probability of failure, above 0; shapes broadcast.
    ///
    /// Returns:
    ///     float64 array of the common shape, or a float, in rounds.
    ///
    /// Examples:
    ///     >>> round(rucb_settled_after(3, 1.1, 0.1))
    ///     101
    rucb_settled_after([], n_items: Count as size, alpha: FiniteNonNegative, delta: FiniteNonNegative),
        otherwise "at least 2 items, an alpha above 1/2, and a delta above 0";

    /// The factor of ln t in RUCB's regret bounds: the sum over pairs of D_ij (Delta_i + Delta_j) /
    /// 2, RUCB paper, Theorem 2.
    ///
    /// Args:
    ///     preferences: as of `dueling_lower_bound`, with an item that beats all others.
    ///     alpha: RUCB's parameter, above 1/2; a number or an array of any shape, that of the
    ///         result.
    ///
    /// Examples:
    ///     >>> preferences = [[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]]
    ///     >>> round(rucb_log_coefficient(preferences, 0.6), 4)
    ///     54.0
    rucb_log_coefficient([preferences: matrix], alpha: FiniteNonNegative),
        otherwise "an item that beats all others, and an alpha above 1/2";

    /// Upper bound on the regret of RUCB after `rounds` rounds, which holds for all rounds
    /// simultaneously with probability 1 - delta: RUCB paper, Theorem 2.
    ///
    /// Args:
    ///     preferences: as of `dueling_lower_bound`, with an item that beats all others.
    ///     alpha: RUCB's parameter, above 1/2.
    ///     delta: probability of failure, above 0.
    ///     rounds: numbers of rounds, at least 1; alpha, delta and rounds broadcast.
    ///
    /// Examples:
    ///     >>> preferences = [[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]]
    ///     >>> round(rucb_high_probability_bound(preferences, 1.1, 0.1, 10**6))
    ///     1388
    rucb_high_probability_bound(
        [preferences: matrix], alpha: FiniteNonNegative, delta: ErrorProbability, rounds: Count as whole
    ), otherwise "an item that beats all others, an alpha above 1/2, and at least one round";

    /// Upper bound on the mean regret of RUCB after `rounds` rounds: RUCB paper, Theorem 3.
    /// Infinite for an alpha of at most 1. Arguments without delta, results and errors as of
    /// `rucb_high_probability_bound`.
    ///
    /// Examples:
    ///     >>> preferences = [[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]]
    ///     >>> round(rucb_expected_bound(preferences, 1.1, 10**6))
    ///     1386
    rucb_expected_bound([preferences: matrix], alpha: FiniteNonNegative, rounds: Count as whole),
        otherwise "an item that beats all others, an alpha above 1/2, and at least one round";
}

of_instance! {
    /// D_ij, in duels for each ln t: RUCB compares items i and j at most max(C(delta), D_ij ln t)
    /// times: RUCB paper, Theorem 2.
    ///
    /// Args:
    ///     preferences: as of `dueling_lower_bound`, with an item that beats all others.
    ///     alpha: RUCB's parameter, a number above 1/2.
    ///
    /// Returns:
    ///     float64 array of shape (items, items), 0 on the diagonal.
    ///
    /// Examples:
    ///     >>> preferences = [[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]]
    ///     >>> rucb_duels(preferences, 0.6)[0].round(1).tolist()
    ///     [0.0, 240.0, 60.0]
    rucb_duels([preferences: matrix], alpha: non_negative) = |py, duels: Vec<f64>| {
        let n = duels.len().isqrt();
        Ok(PyArray1::from_vec(py, duels).reshape([n, n])?.into_any())
    },
    otherwise "an item that beats all others, and an alpha above 1/2";
}
