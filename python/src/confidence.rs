//! Functions of the crate `confidence` over arrays.

use crate::arrays::{Column, Columns, Domain, to_python};
use crate::clicks::counts;
use crate::message::value_error;
use ::confidence::{self as scalar, MAX_POSITIONS};
use pyo3::prelude::*;

/// Arms computed between two copies; a multiple of the eight that are computed together.
const BLOCK: usize = 1024;

/// Makes functions over arrays from functions of numbers.
macro_rules! elementwise {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident($($argument:ident: $Domain:ident),+) = $compute:expr;
    )*) => {$(
        $(#[doc = $doc])+
        #[pyfunction]
        pub(crate) fn $name<'py>(py: Python<'py>, $($argument: &Bound<'py, PyAny>),+) -> PyResult<Bound<'py, PyAny>> {
            let columns = Columns::of(py, [$((stringify!($argument), $argument, Domain::$Domain)),+])?;
            let n = columns.len();
            let numbers = py.detach(|| {
                let [$($argument),+] = &columns.columns;
                (0..n).map(|place| ($compute)($($argument.get(place)),+)).collect()
            });
            to_python(py, numbers, &columns.shape)
        }
    )*};
}

elementwise! {
    /// Kullback-Leibler divergence d(p, q) of two Bernoulli distributions, in nats; may be infinite.
    ///
    /// Args:
    ///     p: probabilities, any shape.
    ///     q: probabilities; shapes broadcast.
    ///
    /// Returns:
    ///     float64 array of the common shape, or a float.
    ///
    /// Raises:
    ///     ValueError: a number that is NaN or not from 0 to 1.
    bernoulli_kl(p: Probability, q: Probability) = scalar::bernoulli_kl;

    /// Hoeffding's radius sqrt(level / (2 n)); infinite for n = 0.
    ///
    /// Args:
    ///     n: numbers of observations, any shape.
    ///     level: exploration level, in nats; shapes broadcast.
    ///
    /// Returns:
    ///     float64 array of the common shape, or a float, in the unit of the rewards.
    hoeffding_radius(n: NonNegative, level: NonNegative) = scalar::hoeffding_radius;

    /// UCB1's radius sqrt(2 level / n); infinite for n = 0. Shapes broadcast.
    ucb1_radius(n: NonNegative, level: NonNegative) = scalar::ucb1_radius;

    /// RSF-UCB's radius sqrt(2 level / (3 n)), where n counts observed displays; infinite for n = 0. Shapes broadcast.
    rsf_ucb_radius(n: NonNegative, level: NonNegative) = scalar::rsf_ucb_radius;

    /// The radius sqrt(factor level / n); infinite for n = 0. Shapes broadcast.
    scaled_radius(n: NonNegative, level: NonNegative, factor: NonNegative) = scalar::scaled_radius;

    /// The empirical Bernstein radius sqrt(2 variance level / n) + 3 level / n of UCB-V, with the variance of divisor n; infinite for
    /// n = 0. Shapes broadcast.
    bernstein_radius(n: NonNegative, variance: NonNegative, level: NonNegative) = scalar::bernstein_radius;

    /// The Bernstein radius sqrt(2 variance level / n) + 7 level / (3 (n - 1)), with the variance of divisor n - 1; infinite for n at most 1.
    /// Shapes broadcast.
    sample_bernstein_radius(n: NonNegative, variance: NonNegative, level: NonNegative) = scalar::sample_bernstein_radius;

    /// PBM-UCB's radius sqrt(n / m) sqrt(level / (2 m)) with m = weighted_shows, the examination probabilities summed over the n displays of
    /// an item; infinite for m = 0. Shapes broadcast.
    pbm_ucb_radius(n: NonNegative, weighted_shows: NonNegative, level: NonNegative) = scalar::pbm_ucb_radius;

    /// The radius 4 sqrt(ln(log2(2 n) / rho) / n) of CascadeBAI's Algorithm 1; infinite for n = 0. n is a whole number. Shapes broadcast.
    lil_radius(n: Count, rho: NonNegative) = |n, rho| scalar::lil_radius(whole(n), rho);

    /// The radius scale sqrt(ln(log2(2 n) / rho) / n); infinite for n = 0. n is a whole number. Shapes broadcast.
    lil_radius_scaled(n: Count, rho: NonNegative, scale: NonNegative) = |n, rho, scale| scalar::lil_radius_scaled(whole(n), rho, scale);
}

/// A whole number, checked before.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number from 0 to 2^53")]
fn whole(number: f64) -> u64 {
    number as u64
}

/// The upper KL-UCB index: the largest q from mean to 1 with n d(mean, q) <= level; 1 for n = 0. Never below the true root.
///
/// Args:
///     mean: observed means, any shape, from 0 to 1.
///     n: numbers of observations.
///     level: exploration level, in nats; shapes broadcast.
///
/// Returns:
///     float64 array of the common shape, or a float.
///
/// Raises:
///     ValueError: a number that is NaN or outside its range.
#[pyfunction]
pub(crate) fn kl_ucb_upper<'py>(
    py: Python<'py>,
    mean: &Bound<'py, PyAny>,
    n: &Bound<'py, PyAny>,
    level: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    index(py, mean, n, level, scalar::kl_ucb_upper, scalar::kl_ucb_upper_batch)
}

/// The lower KL-UCB index: the smallest q from 0 to mean with n d(mean, q) <= level; 0 for n = 0. Never above the true root.
///
/// Args:
///     mean: observed means, any shape, from 0 to 1.
///     n: numbers of observations.
///     level: exploration level, in nats; shapes broadcast.
///
/// Returns:
///     float64 array of the common shape, or a float.
///
/// Raises:
///     ValueError: a number that is NaN or outside its range.
#[pyfunction]
pub(crate) fn kl_ucb_lower<'py>(
    py: Python<'py>,
    mean: &Bound<'py, PyAny>,
    n: &Bound<'py, PyAny>,
    level: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    index(py, mean, n, level, scalar::kl_ucb_lower, scalar::kl_ucb_lower_batch)
}

fn index<'py>(
    py: Python<'py>,
    mean: &Bound<'py, PyAny>,
    n: &Bound<'py, PyAny>,
    level: &Bound<'py, PyAny>,
    one: fn(f64, f64, f64) -> f64,
    batch: fn(&[f64], &[f64], f64, &mut [f64]),
) -> PyResult<Bound<'py, PyAny>> {
    let columns = Columns::of(
        py,
        [
            ("mean", mean, Domain::Probability),
            ("n", n, Domain::NonNegative),
            ("level", level, Domain::NonNegative),
        ],
    )?;
    let length = columns.len();
    let Columns { shape, columns: [mean, n, level] } = columns;
    let numbers = py.detach(|| {
        // The results replace the means: fresh memory costs more than a copy of a block.
        let (mut numbers, n) = (mean.spread(length), n.spread(length));
        match level {
            // Eight arms together; the same bits as one by one.
            Column::One(level) => {
                let mut means = [0.0; BLOCK];
                for (numbers, n) in numbers.chunks_mut(BLOCK).zip(n.chunks(BLOCK)) {
                    let means = &mut means[..numbers.len()];
                    means.copy_from_slice(numbers);
                    batch(means, n, level, numbers);
                }
            }
            Column::Many(levels) => {
                for ((number, &n), &level) in numbers.iter_mut().zip(&n).zip(&levels) {
                    *number = one(*number, n, level);
                }
            }
        }
        numbers
    });
    to_python(py, numbers, &shape)
}

/// The upper multi-position KL index of the PBM paper, equation (7).
///
/// Args:
///     clicks: clicks of items at positions, integers, shape (items, positions), or (positions,) for one item.
///     shows: displays, of the same shape.
///     examination: examination probabilities, shape (positions,).
///     level: exploration level, in nats, a number.
///
/// Returns:
///     float64 array of shape (items,), or a float for one item.
///
/// Raises:
///     ValueError: shapes that do not fit, more clicks than displays, a number outside its range.
#[pyfunction]
pub(crate) fn multi_position_upper<'py>(
    py: Python<'py>,
    clicks: &Bound<'py, PyAny>,
    shows: &Bound<'py, PyAny>,
    examination: &Bound<'py, PyAny>,
    level: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    multi_position(py, clicks, shows, examination, level, scalar::multi_position_upper)
}

/// The lower multi-position KL index, the mirror image of `multi_position_upper`.
///
/// Args:
///     clicks: clicks of items at positions, integers, shape (items, positions), or (positions,) for one item.
///     shows: displays, of the same shape.
///     examination: examination probabilities, shape (positions,).
///     level: exploration level, in nats, a number.
///
/// Returns:
///     float64 array of shape (items,), or a float for one item.
///
/// Raises:
///     ValueError: shapes that do not fit, more clicks than displays, a number outside its range.
#[pyfunction]
pub(crate) fn multi_position_lower<'py>(
    py: Python<'py>,
    clicks: &Bound<'py, PyAny>,
    shows: &Bound<'py, PyAny>,
    examination: &Bound<'py, PyAny>,
    level: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    multi_position(py, clicks, shows, examination, level, scalar::multi_position_lower)
}

fn multi_position<'py>(
    py: Python<'py>,
    clicks: &Bound<'py, PyAny>,
    shows: &Bound<'py, PyAny>,
    examination: &Bound<'py, PyAny>,
    level: &Bound<'py, PyAny>,
    index: fn(&[u64], &[u64], &[f64], f64) -> f64,
) -> PyResult<Bound<'py, PyAny>> {
    let examination = Columns::of(py, [("examination", examination, Domain::Probability)])?;
    let level = Columns::of(py, [("level", level, Domain::NonNegative)])?;
    let (n_positions, dimensions) = (examination.len(), examination.shape.len());
    if dimensions != 1 || !(1..=MAX_POSITIONS).contains(&n_positions) {
        return Err(value_error(format!(
            "examination: expected shape (positions,), at most {MAX_POSITIONS}"
        )));
    }
    if !level.shape.is_empty() {
        return Err(value_error("level: expected a number"));
    }
    let [examination] = examination.columns;
    let (examination, level) = (examination.spread(n_positions), level.columns[0].get(0));
    let (clicks, shape) = counts("clicks", clicks)?;
    let (shows, shown_shape) = counts("shows", shows)?;
    if shape != shown_shape || !matches!(shape[..], [n] | [_, n] if n == n_positions) {
        return Err(value_error(format!(
            "clicks and shows: expected one shape, (items, {n_positions}) or ({n_positions},), got {shape:?} and {shown_shape:?}"
        )));
    }
    if clicks.iter().zip(&shows).any(|(clicks, shows)| clicks > shows) {
        return Err(value_error("more clicks than shows"));
    }
    let numbers = py.detach(|| {
        let items = clicks.chunks_exact(n_positions).zip(shows.chunks_exact(n_positions));
        items.map(|(clicks, shows)| index(clicks, shows, &examination, level)).collect()
    });
    to_python(py, numbers, &shape[..shape.len() - 1])
}
