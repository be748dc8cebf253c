//! Best arm identification under cascade feedback: rounds, observations, and gaps.

use super::{error_probability, non_negative, probabilities};
use crate::elementwise::{elementwise, size};
use crate::json::dict;
use crate::message::value_error;
use crate::task::length;
use click_models::bounds::{self as scalar, CascadeBaiGaps, CascadeBaiUpperTerms};
use numpy::PyArray1;
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;

elementwise! {
    /// Lower bound on the rounds to identify the best items of a cascade: CascadeBAI paper, Theorem
    /// 4.8. 0 if all items are to be found, and for delta from 1 / 2.4 on; infinite if the last of
    /// the best items and the next one are equally attractive.
    ///
    /// Args:
    ///     weights: attraction probabilities of the items, in any order, shape (items,).
    ///     n_positions: number of positions.
    ///     delta: probability of error, above 0 and below 1; n_positions and delta broadcast.
    ///
    /// Examples:
    ///     >>> round(cascade_bai_lower_bound([0.5, 0.3, 0.1], 1, 0.05), 4)
    ///     55.85
    cascade_bai_lower_bound([weights: probabilities], n_positions: Count as size, delta: ErrorProbability),
        otherwise "at least one position, and at least as many items as positions";

    /// `cascade_bai_lower_bound` before the proof rounds down, with d(1 - delta, delta) for ln(1 /
    /// (2.4 delta)): CascadeBAI paper, section 5.3. Arguments as there.
    ///
    /// Examples:
    ///     >>> round(cascade_bai_lower_bound_unrounded([0.5, 0.3, 0.1], 1, 0.05), 4)
    ///     69.8037
    cascade_bai_lower_bound_unrounded([weights: probabilities], n_positions: Count as size, delta: ErrorProbability),
        otherwise "at least one position, and at least as many items as positions";

    /// T*, the characteristic time: any policy that is right with probability 1 - delta on every
    /// instance takes T* d(1 - delta, delta) rounds or more on average. 0 if all items are to be
    /// found; infinite if the last of the best items and the next one are equally attractive.
    ///
    /// Args:
    ///     weights: attraction probabilities of the items, in any order, shape (items,).
    ///     n_positions: number of positions, or an array of them, of any shape, that of the result.
    ///
    /// Examples:
    ///     >>> round(cascade_characteristic_time([0.5, 0.3, 0.1], 1), 4)
    ///     50.6115
    cascade_characteristic_time([weights: probabilities], n_positions: Count as size),
        otherwise "at least one position, and at least as many items as positions";

    /// T-bar: the number of observations of every item after which an item with this gap is
    /// accepted or rejected, as printed with 216 and 648: CascadeBAI paper, section 4.1. Infinite
    /// for a gap of 0.
    ///
    /// Args:
    ///     gap: distances to acceptance or rejection, at least 0, any shape.
    ///     delta: probability of error, above 0 and below 1.
    ///     n_items: numbers of items, at least 1; shapes broadcast.
    ///
    /// Returns:
    ///     float64 array of the common shape, or a float, in observations.
    ///
    /// Examples:
    ///     >>> cascade_bai_observations([0.1, 0.2], 0.05, 10).round().tolist()
    ///     [165400.0, 40826.0]
    cascade_bai_observations([], gap: FiniteNonNegative, delta: ErrorProbability, n_items: Count as size), otherwise "at least one item";

    /// `cascade_bai_observations` with the constants 256 and 768, which the proof requires:
    /// CascadeBAI paper, Lemma 5.8. Arguments as there.
    ///
    /// Examples:
    ///     >>> cascade_bai_observations_corrected([0.1, 0.2], 0.05, 10).round().tolist()
    ///     [196318.0, 48465.0]
    cascade_bai_observations_corrected([], gap: FiniteNonNegative, delta: ErrorProbability, n_items: Count as size),
        otherwise "at least one item";

    /// Bound on the first term of Theorem 4.1 from the largest and the smallest weight, in rounds
    /// up to a constant: CascadeBAI paper, Proposition 4.2. Shapes broadcast.
    ///
    /// Args:
    ///     best: largest weight, a probability.
    ///     worst: smallest weight, above 0 and below best.
    ///     n_positions: number of positions, at least 1.
    ///     delta: probability of error, above 0 and below 1.
    ///
    /// Examples:
    ///     >>> round(cascade_bai_n1_bound(0.5, 0.1, 2, 0.05), 4)
    ///     40.6014
    cascade_bai_n1_bound([], best: Probability, worst: Probability, n_positions: Count as size, delta: ErrorProbability),
        otherwise "0 < worst < best <= 1, and at least one position";

    /// Upper bound, with probability 1 - delta, on the rounds of CascadeBAI if the best items have
    /// the weight `best` and all others `worst`: CascadeBAI paper, Proposition 4.6 with the
    /// constants of its proof, D.4. Shapes broadcast.
    ///
    /// Args:
    ///     best: weight of the n_positions best items, a probability.
    ///     worst: weight of the others, above 0 and below best.
    ///     n_items: number of items.
    ///     n_positions: number of positions, at least 1 and below n_items.
    ///     delta: probability of error, above 0 and below 1.
    ///
    /// Examples:
    ///     >>> round(cascade_bai_two_level_upper_bound(0.5, 0.1, 10, 2, 0.05))
    ///     201232
    cascade_bai_two_level_upper_bound(
        [], best: Probability, worst: Probability, n_items: Count as size, n_positions: Positions as size, delta: ErrorProbability
    ), otherwise "0 < worst < best <= 1, at least one position, and more items than positions";

    /// Lower bound on the mean rounds of any policy on the instances of
    /// `cascade_bai_two_level_upper_bound`: CascadeBAI paper, Corollary 4.9. Arguments as there.
    ///
    /// Examples:
    ///     >>> round(cascade_bai_two_level_lower_bound(0.5, 0.1, 10, 2, 0.05), 4)
    ///     35.7757
    cascade_bai_two_level_lower_bound(
        [], best: Probability, worst: Probability, n_items: Count as size, n_positions: Positions as size, delta: ErrorProbability
    ), otherwise "0 < worst < best <= 1, at least one position, and more items than positions";

    /// Mean number of observed items if users scan a list from the top until they click: CascadeBAI
    /// paper, section 5.1.
    ///
    /// Args:
    ///     list: attraction probabilities of the items of the list, from the top down, shape
    ///         (positions,).
    ///
    /// Examples:
    ///     >>> expected_observations([0.5, 0.3, 0.1])
    ///     1.85
    expected_observations([list: probabilities]), otherwise "probabilities";

    /// The smallest mean number of observations of a list of k of these items, mu_k, that of the
    /// most attractive, best first: CascadeBAI paper, Theorem 5.1.
    ///
    /// Args:
    ///     weights: attraction probabilities of the items, in any order, shape (items,).
    ///     k: number of items in the list, or an array of them, of any shape, that of the result.
    ///
    /// Examples:
    ///     >>> cascade_fewest_observations([0.5, 0.3, 0.1], [1, 2, 3]).tolist()
    ///     [1.0, 1.5, 1.85]
    cascade_fewest_observations([weights: probabilities], k: Count as size), otherwise "k from 1 to the number of items";

    /// The largest mean number of observations of a list of k of these items, that of the least
    /// attractive, worst first: CascadeBAI paper, Theorem 5.1. Arguments as of
    /// `cascade_fewest_observations`.
    ///
    /// Examples:
    ///     >>> cascade_most_observations([0.5, 0.3, 0.1], [1, 2, 3]).tolist()
    ///     [1.0, 1.9, 2.53]
    cascade_most_observations([weights: probabilities], k: Count as size), otherwise "k from 1 to the number of items";

    /// The left-sided sub-Gaussian parameter v_k = min(k, sqrt(2) / smallest weight) of the number
    /// of observations of a list of k of these items: CascadeBAI paper, Theorem 5.4 and Lemma 5.5.
    /// Arguments as of `cascade_fewest_observations`.
    ///
    /// Examples:
    ///     >>> cascade_observations_deviation([0.5, 0.3, 0.1], [1, 2, 3]).tolist()
    ///     [1.0, 2.0, 3.0]
    cascade_observations_deviation([weights: probabilities], k: Count as size), otherwise "k from 1 to the number of items";

    /// Growth rates of the lower bound and of the rounds of CascadeBAI, without constants and
    /// logarithms, on the instances of `cascade_bai_two_level_upper_bound`: CascadeBAI paper,
    /// Corollary 4.10. Arguments as there, without delta.
    ///
    /// Returns:
    ///     Two float64 arrays of the common shape, or two floats: the lower and the upper rate. NaN
    ///     for what the corollary does not cover: best above 1 / n_positions with worst below 1/2
    ///     and best below 1, and arguments outside their range.
    ///
    /// Examples:
    ///     >>> [round(rate, 3) for rate in cascade_bai_two_level_rates(0.5, 0.1, 10, 2)]
    ///     [0.625, 31.25]
    cascade_bai_two_level_rates(best: Probability, worst: Probability, n_items: Count as size, n_positions: Positions as size) =
        |best, worst, n_items, n_positions| {
            let rates = scalar::cascade_bai_two_level_rates(best, worst, n_items, n_positions);
            rates.map_or([f64::NAN; 2], <[f64; 2]>::from)
        };
}

fn of_gaps(py: Python<'_>, gaps: CascadeBaiGaps) -> PyResult<Bound<'_, PyAny>> {
    let [plain, tolerant] = [gaps.plain, gaps.tolerant].map(|gaps| PyArray1::from_vec(py, gaps));
    Ok(dict!(py; "n_acceptable": gaps.n_acceptable, "plain": plain, "tolerant": tolerant).into_any())
}

/// A mixture of lists that attains `cascade_characteristic_time`.
///
/// Args:
///     weights: attraction probabilities of the items, in any order, shape (items,).
///     n_positions: number of positions, at least 1 and at most the number of items.
///
/// Returns:
///     list: pairs of a list of items, from the top position down, and the share of rounds in which
///         it is shown. The shares add up to 1.
///
/// Examples:
///     >>> [(list, round(share, 2)) for list, share in cascade_optimal_mixture([0.5, 0.3, 0.1], 1)]
///     [([0], 0.47), ([1], 0.48), ([2], 0.06)]
#[pyfunction]
pub(crate) fn cascade_optimal_mixture(
    py: Python<'_>,
    weights: &Bound<'_, PyAny>,
    n_positions: &Bound<'_, PyAny>,
) -> PyResult<Vec<(Vec<usize>, f64)>> {
    let weights = probabilities("weights", weights)?;
    let n_positions = length("n_positions", n_positions)?;
    let mixture = py.detach(|| scalar::cascade_optimal_mixture(&weights, n_positions));
    let expected = "at least one position, and at least as many items as positions";
    let wrong = || value_error(format!("cascade_optimal_mixture: expected {expected}"));
    if mixture.is_empty() { Err(wrong()) } else { Ok(mixture) }
}

of_instance! {
    /// The gaps of all items to acceptance or rejection: CascadeBAI paper, section 4.1.
    ///
    /// Args:
    ///     weights: attraction probabilities of the items, in any order, shape (items,).
    ///     n_positions: number of positions, at least 1 and below the number of items.
    ///     epsilon: tolerance, a number that is at least 0.
    ///
    /// Returns:
    ///     dict: `n_acceptable`, K', the number of items at most epsilon less attractive than the
    ///         last of the best; `plain`, Delta, and `tolerant`, Delta-bar, the gaps without and
    ///         with the tolerance, float64 arrays of shape (items,), by decreasing weight.
    ///
    /// Raises:
    ///     ValueError: a number outside its range, or all items to be found.
    ///
    /// Examples:
    ///     >>> cascade_bai_gaps([0.5, 0.3, 0.1], 1, 0.0)["plain"].round(2).tolist()
    ///     [0.2, 0.2, 0.4]
    cascade_bai_gaps([weights: probabilities], n_positions: length, epsilon: non_negative) = of_gaps,
        otherwise "at least one position, and more items than positions";

    /// The terms of the upper bound on the rounds of CascadeBAI: CascadeBAI paper, Theorem 4.1.
    ///
    /// Args:
    ///     weights, n_positions, epsilon: as of `cascade_bai_gaps`; K is n_positions.
    ///     delta: probability of error, a number above 0 and below 1.
    ///
    /// Returns:
    ///     dict: those of `cascade_bai_gaps`; `observations`, T-bar as printed, by decreasing gap,
    ///         shape (items,); `fewest`, mu_1 to mu_K, shape (K,); `k1` and `k2`; `n1`, `n2` and
    ///         `n3`, the terms, in rounds up to constants; `n3_rearranged`, N_3 as in equation
    ///         (4.2), which the paper states to be equal.
    ///
    /// Raises:
    ///     ValueError: a number outside its range, or an instance that the theorem does not cover:
    ///         all items to be found, a gap of 0, or K' >= 2 K - 1, for which there is
    ///         `cascade_bai_tolerant_upper_terms`.
    ///
    /// Examples:
    ///     >>> terms = cascade_bai_upper_terms([0.5, 0.4, 0.2, 0.1], 2, 0.05, 0.1)
    ///     >>> terms["n_acceptable"], terms["plain"].round(2).tolist()
    ///     (2, [0.3, 0.2, 0.2, 0.3])
    cascade_bai_upper_terms([weights: probabilities], n_positions: length, epsilon: non_negative, delta: error_probability) =
        |py, terms: CascadeBaiUpperTerms| {
            let dict = of_gaps(py, terms.gaps)?;
            let [observations, fewest] =
                [terms.observations, terms.fewest].map(|items| PyArray1::from_vec(py, items));
            dict.call_method1("update", (dict!(py;
                "observations": observations, "fewest": fewest, "k1": terms.k1, "k2": terms.k2,
                "n1": terms.n1, "n2": terms.n2, "n3": terms.n3, "n3_rearranged": terms.n3_rearranged,
            ),))?;
            Ok(dict)
        },
        otherwise "gaps above 0, more items than positions, and fewer than 2 K - 1 acceptable items";

    /// The terms N_1' and N_2' of the upper bound on the rounds of CascadeBAI for a large
    /// tolerance: CascadeBAI paper, Proposition C.1. Arguments as of `cascade_bai_upper_terms`.
    ///
    /// Returns:
    ///     tuple of two floats, in rounds.
    ///
    /// Raises:
    ///     ValueError: a number outside its range, or an instance that the proposition does not
    ///         cover: all items to be found, a gap of 0, or K' < 2 K - 1.
    ///
    /// Examples:
    ///     >>> [round(of) for of in cascade_bai_tolerant_upper_terms([0.5, 0.3, 0.1], 1, 0.05, 0.1)]
    ///     [6, 194096]
    cascade_bai_tolerant_upper_terms([weights: probabilities], n_positions: length, epsilon: non_negative, delta: error_probability) =
        |py, terms: (f64, f64)| terms.into_bound_py_any(py),
        otherwise "gaps above 0, more items than positions, and at least 2 K - 1 acceptable items";
}
