//! Multi-position indices, and the divergence that they invert.

use crate::arrays::{Argument, Columns, Domain, Place, Shape, vector};
use crate::clicks::counts;
use crate::elementwise::size;
use crate::message::value_error;
use confidence::{self as scalar, MAX_POSITIONS};
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;

/// The clicks on items and their displays at every position.
struct Items {
    clicks: Vec<u64>,
    shows: Vec<u64>,
    examination: Vec<f64>,
    /// The shape without positions.
    shape: Vec<usize>,
}

impl Items {
    fn read(
        clicks: &Bound<'_, PyAny>,
        shows: &Bound<'_, PyAny>,
        examination: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let examination = vector("examination", examination, Domain::Probability)?;
        let n_positions = examination.len();
        if !(1..=MAX_POSITIONS).contains(&n_positions) {
            return Err(value_error(format!(
                "examination: expected shape (positions,) with 1 to {MAX_POSITIONS} positions, got ({n_positions},)"
            )));
        }
        let (clicks, shape) = counts("clicks", clicks)?;
        let (shows, shown_shape) = counts("shows", shows)?;
        if shape != shown_shape || shape.last() != Some(&n_positions) {
            return Err(value_error(format!(
                "clicks and shows: expected one shape, (items, {n_positions}) or ({n_positions},), got {} and {}",
                Shape(&shape),
                Shape(&shown_shape)
            )));
        }
        if let Some(place) = clicks.iter().zip(&shows).position(|(clicks, shows)| clicks > shows) {
            return Err(value_error(format!(
                "clicks{} is {}: more clicks than shows ({})",
                Place(place, &shape),
                clicks[place],
                shows[place]
            )));
        }
        let shape = shape[..shape.len() - 1].to_vec();
        Ok(Self { clicks, shows, examination, shape })
    }

    /// The results for each item and each of the numbers with which the items broadcast.
    fn results<'py, const M: usize>(
        &self,
        py: Python<'py>,
        number: Argument<'_, 'py>,
        compute: impl Fn(&[u64], &[u64], &[f64], f64) -> [f64; M] + Sync,
    ) -> PyResult<Bound<'py, PyAny>> {
        let n_positions = self.examination.len();
        let items = py.import("numpy")?.call_method1("arange", (self.shape.iter().product::<usize>(),))?;
        let items = items.call_method1("reshape", (&self.shape,))?;
        let columns = Columns::of(py, [number, ("items", &items, Domain::Count)])?;
        let results = columns.map(py, |[number, item]| {
            let start = size(item) * n_positions;
            let range = start..start + n_positions;
            compute(&self.clicks[range.clone()], &self.shows[range], &self.examination, number)
        })?;
        results.into_python(py)
    }
}

/// Makes functions of Python of items and of a number for each.
macro_rules! of_items {
    ($($(#[doc = $doc:literal])+ $name:ident($value:ident: $Domain:ident);)+) => {$(
        $(#[doc = $doc])+
        #[pyfunction]
        pub(crate) fn $name<'py>(
            py: Python<'py>,
            clicks: &Bound<'py, PyAny>,
            shows: &Bound<'py, PyAny>,
            examination: &Bound<'py, PyAny>,
            $value: &Bound<'py, PyAny>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let argument = (stringify!($value), $value, Domain::$Domain);
            Items::read(clicks, shows, examination)?.results(py, argument, |clicks, shows, kappa, value| {
                [scalar::$name(clicks, shows, kappa, value)]
            })
        }
    )+};
}

of_items! {
    /// The upper multi-position KL index of the PBM paper, equation (7).
    ///
    /// Args:
    ///     clicks: clicks of items at positions, integers, shape (items, positions), or
    ///         (positions,) for one item.
    ///     shows: displays, of the same shape.
    ///     examination: examination probabilities, shape (positions,).
    ///     level: exploration level, in nats: a number, or one for each item, shape (items,);
    ///         broadcasts with the shape of the items.
    ///
    /// Returns:
    ///     float64 array of shape (items,), or a float for one item.
    ///
    /// Raises:
    ///     ValueError: shapes that do not fit, more clicks than displays, a number outside its
    ///         range.
    ///
    /// Examples:
    ///     >>> round(multi_position_upper([10, 5], [20, 20], [1.0, 0.5], 2.0), 4)
    ///     0.6909
    multi_position_upper(level: NonNegative);

    /// The lower multi-position KL index, the mirror image of `multi_position_upper`. Arguments,
    /// results and errors as there.
    ///
    /// Examples:
    ///     >>> round(multi_position_lower([10, 5], [20, 20], [1.0, 0.5], 2.0), 4)
    ///     0.3166
    multi_position_lower(level: NonNegative);

    /// The function that the multi-position indices invert, Phi(q) = sum over positions of shows
    /// d(clicks / shows, examination q), in nats; may be infinite: PBM paper, equation (7). The
    /// other arguments, results and errors as of `multi_position_upper`.
    ///
    /// Args:
    ///     q: attraction probabilities: a number, or one for each item, shape (items,); broadcasts
    ///         with the shape of the items.
    ///
    /// Examples:
    ///     >>> round(multi_position_divergence([10, 5], [20, 20], [1.0, 0.5], 0.4), 4)
    ///     0.5559
    multi_position_divergence(q: Probability);
}

/// The maximum-likelihood estimates of attraction, where `multi_position_divergence` is least, and
/// its value there. Arguments and errors as of `multi_position_upper`.
///
/// Returns:
///     Two float64 arrays of shape (items,), or two floats for one item: the estimates, and the
///     divergences there, in nats. Both are NaN for an item that was never displayed at a position
///     that is examined.
///
/// Examples:
///     >>> [round(number, 4) for number in multi_position_minimum([10, 5], [20, 25], [1.0, 0.5])]
///     [0.4698, 0.1244]
#[pyfunction]
pub(crate) fn multi_position_minimum<'py>(
    py: Python<'py>,
    clicks: &Bound<'py, PyAny>,
    shows: &Bound<'py, PyAny>,
    examination: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let none = 0.into_bound_py_any(py)?;
    let none = ("none", &none, Domain::Finite);
    Items::read(clicks, shows, examination)?.results(py, none, |clicks, shows, kappa, _| {
        scalar::multi_position_minimum(clicks, shows, kappa)
            .map_or([f64::NAN; 2], |minimum| [minimum.theta, minimum.divergence])
    })
}
