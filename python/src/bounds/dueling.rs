//! Dueling bandits: a lower bound on the regret, and upper bounds for RUCB.

use super::{defined, matrix, or_refused};
use crate::arrays::{Columns, Domain, number};
use crate::elementwise::{size, whole};
use click_models::bounds as scalar;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

/// Where the bounds for RUCB are defined.
const OF_RUCB: &str = "an item that beats all others, an alpha above 1/2, and at least one round";

/// Lower bound on the regret of uniformly efficient policies in dueling bandits, per ln t: Komiyama et al. 2015, Theorem 2.
///
/// Args:
///     preferences: probability that the item of the row is preferred to that of the column, shape (items, items).
///
/// Raises:
///     ValueError: no matrix of preferences, or no item beats all others.
#[pyfunction]
pub(crate) fn dueling_lower_bound<'py>(
    py: Python<'py>,
    preferences: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let matrix = matrix(preferences)?;
    let expected = "an item that beats all others";
    defined(py, "dueling_lower_bound", expected, &Columns::of(py, [])?, |[]| {
        scalar::dueling_lower_bound(&matrix)
    })
}

/// Lower bound on the Copeland regret of uniformly efficient policies in dueling bandits, per ln t, also without an item that beats all
/// others: Komiyama et al. 2016, Theorem 2.
///
/// Args:
///     preferences: probability that the item of the row is preferred to that of the column, shape (items, items).
///
/// Raises:
///     ValueError: no matrix of preferences, two items as good as each other, or more than 32 items.
#[pyfunction]
pub(crate) fn copeland_lower_bound<'py>(
    py: Python<'py>,
    preferences: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let matrix = matrix(preferences)?;
    let expected = "no two items that are as good as each other, and at most 32 items";
    defined(py, "copeland_lower_bound", expected, &Columns::of(py, [])?, |[]| {
        scalar::copeland_lower_bound(&matrix)
    })
}

/// C(delta), the round after which all confidence intervals of RUCB hold with probability 1 - delta: RUCB paper, Lemma 1.
///
/// Args:
///     n_items: numbers of items, at least 2, any shape.
///     alpha: RUCB's parameter, above 1/2.
///     delta: probability of failure, above 0; shapes broadcast.
///
/// Returns:
///     float64 array of the common shape, or a float, in rounds.
///
/// Raises:
///     ValueError: a number that is NaN or outside its range.
#[pyfunction]
pub(crate) fn rucb_settled_after<'py>(
    py: Python<'py>,
    n_items: &Bound<'py, PyAny>,
    alpha: &Bound<'py, PyAny>,
    delta: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let columns = Columns::of(
        py,
        [
            ("n_items", n_items, Domain::Count),
            ("alpha", alpha, Domain::FiniteNonNegative),
            ("delta", delta, Domain::FiniteNonNegative),
        ],
    )?;
    let expected = "at least 2 items, an alpha above 1/2, and a delta above 0";
    defined(py, "rucb_settled_after", expected, &columns, |[n_items, alpha, delta]| {
        scalar::rucb_settled_after(size(n_items), alpha, delta)
    })
}

/// D_ij, in duels for each ln t: RUCB compares items i and j at most max(C(delta), D_ij ln t) times: RUCB paper, Theorem 2.
///
/// Args:
///     preferences: probability that the item of the row is preferred to that of the column, shape (items, items).
///     alpha: RUCB's parameter, a number above 1/2.
///
/// Returns:
///     float64 array of shape (items, items), 0 on the diagonal.
///
/// Raises:
///     ValueError: no matrix of preferences, no item that beats all others, or an alpha outside its range.
#[pyfunction]
pub(crate) fn rucb_duels<'py>(
    py: Python<'py>,
    preferences: &Bound<'py, PyAny>,
    alpha: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let matrix = matrix(preferences)?;
    let alpha = number("alpha", alpha, Domain::FiniteNonNegative)?;
    let duels = py.detach(|| scalar::rucb_duels(&matrix, alpha));
    let duels = or_refused("rucb_duels", "an item that beats all others, and an alpha above 1/2", duels)?;
    let n = matrix.shape().n_items();
    PyArray1::from_vec(py, duels).reshape([n, n])
}

/// The factor of ln t in RUCB's regret bounds: the sum over pairs of D_ij (Delta_i + Delta_j) / 2, RUCB paper, Theorem 2.
///
/// Args:
///     preferences: probability that the item of the row is preferred to that of the column, shape (items, items).
///     alpha: RUCB's parameter, above 1/2; a number or an array of any shape, that of the result.
///
/// Raises:
///     ValueError: no matrix of preferences, no item that beats all others, or an alpha outside its range.
#[pyfunction]
pub(crate) fn rucb_log_coefficient<'py>(
    py: Python<'py>,
    preferences: &Bound<'py, PyAny>,
    alpha: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let matrix = matrix(preferences)?;
    let columns = Columns::of(py, [("alpha", alpha, Domain::FiniteNonNegative)])?;
    let expected = "an item that beats all others, and an alpha above 1/2";
    defined(py, "rucb_log_coefficient", expected, &columns, |[alpha]| {
        scalar::rucb_log_coefficient(&matrix, alpha)
    })
}

/// Upper bound on the regret of RUCB after `rounds` rounds, which holds for all rounds simultaneously with probability 1 - delta: RUCB paper,
/// Theorem 2.
///
/// Args:
///     preferences: probability that the item of the row is preferred to that of the column, shape (items, items).
///     alpha: RUCB's parameter, above 1/2.
///     delta: probability of failure, above 0.
///     rounds: numbers of rounds, at least 1; alpha, delta and rounds broadcast.
///
/// Returns:
///     float64 array of the common shape, or a float.
///
/// Raises:
///     ValueError: no matrix of preferences, no item that beats all others, or a number outside its range.
#[pyfunction]
pub(crate) fn rucb_high_probability_bound<'py>(
    py: Python<'py>,
    preferences: &Bound<'py, PyAny>,
    alpha: &Bound<'py, PyAny>,
    delta: &Bound<'py, PyAny>,
    rounds: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let matrix = matrix(preferences)?;
    let columns = Columns::of(
        py,
        [
            ("alpha", alpha, Domain::FiniteNonNegative),
            ("delta", delta, Domain::ErrorProbability),
            ("rounds", rounds, Domain::Count),
        ],
    )?;
    defined(py, "rucb_high_probability_bound", OF_RUCB, &columns, |[alpha, delta, rounds]| {
        scalar::rucb_high_probability_bound(&matrix, alpha, delta, whole(rounds))
    })
}

/// Upper bound on the mean regret of RUCB after `rounds` rounds: RUCB paper, Theorem 3. Infinite for an alpha of at most 1.
///
/// Args:
///     preferences: probability that the item of the row is preferred to that of the column, shape (items, items).
///     alpha: RUCB's parameter, above 1/2.
///     rounds: numbers of rounds, at least 1; alpha and rounds broadcast.
///
/// Returns:
///     float64 array of the common shape, or a float.
///
/// Raises:
///     ValueError: no matrix of preferences, no item that beats all others, or a number outside its range.
#[pyfunction]
pub(crate) fn rucb_expected_bound<'py>(
    py: Python<'py>,
    preferences: &Bound<'py, PyAny>,
    alpha: &Bound<'py, PyAny>,
    rounds: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let matrix = matrix(preferences)?;
    let columns =
        Columns::of(py, [("alpha", alpha, Domain::FiniteNonNegative), ("rounds", rounds, Domain::Count)])?;
    defined(py, "rucb_expected_bound", OF_RUCB, &columns, |[alpha, rounds]| {
        scalar::rucb_expected_bound(&matrix, alpha, whole(rounds))
    })
}
