//! KL-UCB indices of Bernoulli variables, eight arms at a time.

use crate::arrays::{Column, Columns, Domain, to_python};
use confidence as scalar;
use pyo3::prelude::*;

/// Arms computed between two copies; a multiple of the eight that are computed together.
const BLOCK: usize = 1024;

/// The upper KL-UCB index: the largest q from mean to 1 with n d(mean, q) <= level; 1 for n = 0.
/// Never below the true root.
///
/// Args:
///     mean: observed means, any shape, from 0 to 1.
///     n: numbers of observations.
///     level: exploration level, in nats; shapes broadcast.
///
/// Examples:
///     >>> kl_ucb_upper([0.1, 0.5], [10, 100], 2.0).round(4).tolist()
///     [0.3784, 0.599]
#[pyfunction]
pub(crate) fn kl_ucb_upper<'py>(
    py: Python<'py>,
    mean: &Bound<'py, PyAny>,
    n: &Bound<'py, PyAny>,
    level: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    index(py, [mean, n, level], scalar::kl_ucb_upper, scalar::kl_ucb_upper_batch)
}

/// The lower KL-UCB index: the smallest q from 0 to mean with n d(mean, q) <= level; 0 for n = 0.
/// Never above the true root. Arguments, results and errors as of `kl_ucb_upper`.
///
/// Examples:
///     >>> kl_ucb_lower([0.1, 0.5], [10, 100], 2.0).round(4).tolist()
///     [0.0055, 0.401]
#[pyfunction]
pub(crate) fn kl_ucb_lower<'py>(
    py: Python<'py>,
    mean: &Bound<'py, PyAny>,
    n: &Bound<'py, PyAny>,
    level: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    index(py, [mean, n, level], scalar::kl_ucb_lower, scalar::kl_ucb_lower_batch)
}

fn index<'py>(
    py: Python<'py>,
    [mean, n, level]: [&Bound<'py, PyAny>; 3],
    one: fn(f64, f64, f64) -> f64,
    batch: fn(&[f64], &[f64], f64, &mut [f64]),
) -> PyResult<Bound<'py, PyAny>> {
    let mean = ("mean", mean, Domain::Probability);
    let [n, level] = [("n", n), ("level", level)].map(|(name, given)| (name, given, Domain::NonNegative));
    let columns = Columns::of(py, [mean, n, level])?;
    let length = columns.len();
    let Columns { shape, columns: [mean, n, level] } = columns;
    let numbers = py.detach(|| {
        // The results replace the means: fresh memory costs more than a copy of a block.
        let (mut numbers, n) = (mean.spread(length)?, n.spread(length)?);
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
        Ok::<_, PyErr>(numbers)
    })?;
    to_python(py, numbers, &shape)
}
