//! Exploration rates: how the level of a confidence bound grows with the round.

use crate::arrays::{Columns, Domain};
use crate::elementwise::whole;
use crate::message::{one_of, value_error};
use confidence::{NonNegative, Rate};
use pyo3::prelude::*;

/// Rates by the names that policies have for them.
const RATES: [(&str, Rate); 3] = [
    ("log-t", Rate::LOG),
    ("log-t-3-log-log-t", Rate::LOG_PLUS_3_LOG_LOG),
    ("log-t-4-log-log-t", Rate::LOG_PLUS_4_LOG_LOG),
];

/// The exploration level at round t, in nats: (1 + epsilon) ln t, ln t + 3 ln ln t or ln t + 4 ln
/// ln t, and 0 where that is negative.
///
/// Garivier and Cappe 2011 (3 in the analysis, 0 in the experiments); Combes et al. 2015 (4); PBM
/// paper, Theorems 9 and 11 (1 + epsilon). Where an algorithm has ln T, T is the argument.
///
/// Args:
///     t: rounds, whole numbers, any shape; the first is 1, and 0 counts as 1.
///     rate: "log-t", "log-t-3-log-log-t" or "log-t-4-log-log-t".
///     epsilon: of the rate "log-t"; shapes broadcast.
///
/// Returns:
///     float64 array of the common shape, or a float, in nats.
///
/// Raises:
///     ValueError: a number outside its range, an unknown rate, or an epsilon with a rate that has
///         none.
///
/// Examples:
///     >>> exploration_level([10, 100], rate="log-t-3-log-log-t").round(4).tolist()
///     [4.8047, 9.1867]
#[pyfunction]
#[pyo3(signature = (t, *, rate="log-t", epsilon=None))]
pub(crate) fn exploration_level<'py>(
    py: Python<'py>,
    t: &Bound<'py, PyAny>,
    rate: &str,
    epsilon: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let known = one_of("rate", rate, &RATES)?;
    let Some(epsilon) = epsilon else {
        let columns = Columns::of(py, [("t", t, Domain::Count)])?;
        return columns.map(py, |[t]| [known.level(whole(t))])?.into_python(py);
    };
    if known != Rate::LOG {
        return Err(value_error(format!("epsilon: the rate `{rate}` has none")));
    }
    let columns =
        Columns::of(py, [("t", t, Domain::Count), ("epsilon", epsilon, Domain::FiniteNonNegative)])?;
    let level = |t: f64, epsilon: f64| {
        NonNegative::new(epsilon).map_or(f64::NAN, |epsilon| Rate::scaled_log(epsilon).level(whole(t)))
    };
    columns.map(py, |[t, epsilon]| [level(t, epsilon)])?.into_python(py)
}
