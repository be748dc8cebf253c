//! Bounds on the regret and on the rounds of an instance.

use crate::arrays::{Columns, Domain, Place, to_python, vector};
use crate::message::value_error;
use crate::sequence::rows;
use click_models::{Error, PreferenceMatrix};
use confidence::Probability;
use pyo3::prelude::*;

/// Makes functions of Python from functions of slices and numbers.
///
/// A row is the docstring, the name, the slices and the numbers with what they may be, and what is expected where the
/// function is not defined: the library's NaN is a `ValueError`. Numbers broadcast.
macro_rules! bounds {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident(
            [$($slice:ident: $Of:ident),*] $(, $number:ident: $Domain:ident $(as $convert:ident)?)*
        ), otherwise $expected:literal;
    )*) => {$(
        $(#[doc = $doc])+
        #[pyo3::pyfunction]
        pub(crate) fn $name<'py>(
            py: pyo3::Python<'py>,
            $($slice: &pyo3::Bound<'py, pyo3::PyAny>,)*
            $($number: &pyo3::Bound<'py, pyo3::PyAny>,)*
        ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
            use crate::arrays::{Columns, Domain};
            $(let $slice = crate::bounds::slice(stringify!($slice), $slice, Domain::$Of)?;)*
            let numbers = Columns::of(py, [$((stringify!($number), $number, Domain::$Domain)),*])?;
            crate::bounds::defined(py, stringify!($name), $expected, &numbers, |[$($number),*]| {
                $($(let $number = $convert($number);)?)*
                click_models::bounds::$name($(&$slice,)* $($number,)*)
            })
        }
    )*};
}

pub(crate) mod cascade_bai;
pub(crate) mod dueling;
pub(crate) mod lists;
pub(crate) mod pbm;
pub(crate) mod rank_one;

/// Numbers of shape (n,); those that are not probabilities are named as by the models.
fn slice(name: &'static str, given: &Bound<'_, PyAny>, domain: Domain) -> PyResult<Vec<f64>> {
    if !matches!(domain, Domain::Probability) {
        return vector(name, given, domain);
    }
    let values = crate::sequence::numbers(name, given)?;
    match values.iter().position(|&value| Probability::new(value).is_err()) {
        Some(index) => Err(value_error(Error::NotAProbability { field: name, index, value: values[index] })),
        None => Ok(values),
    }
}

/// The bound at each place, computed without the interpreter's lock; `expected` says where it is defined.
fn defined<'py, const N: usize>(
    py: Python<'py>,
    name: &str,
    expected: &str,
    numbers: &Columns<N>,
    bound: impl Fn([f64; N]) -> f64 + Send + Sync,
) -> PyResult<Bound<'py, PyAny>> {
    let [bounds] = numbers.map(py, |_, numbers| [bound(numbers)])?;
    match bounds.iter().position(|bound| bound.is_nan()) {
        Some(place) => {
            let place = Place(place, &numbers.shape);
            Err(value_error(format!("{name}{place}: expected {expected}")))
        }
        None => to_python(py, bounds, &numbers.shape),
    }
}

/// A result that may be undefined.
fn or_refused<T>(name: &str, expected: &str, result: Option<T>) -> PyResult<T> {
    result.ok_or_else(|| value_error(format!("{name}: expected {expected}")))
}

/// A matrix of preferences.
pub(crate) fn matrix(given: &Bound<'_, PyAny>) -> PyResult<PreferenceMatrix> {
    PreferenceMatrix::new(&rows("preferences", given)?).map_err(value_error)
}
