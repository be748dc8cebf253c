//! Bounds on the regret and on the rounds of an instance.

use crate::arrays::{Domain, Place, Results, vector};
use crate::message::value_error;
use crate::sequence::rows;
use click_models::{Error, PreferenceMatrix};
use confidence::Probability;
use pyo3::prelude::*;

/// Makes functions of Python from functions of slices and numbers.
///
/// A row is the docstring, the name, the arguments of one value with their readers, the numbers
/// with what they may be, and what is expected where the function is not defined: the library's NaN
/// is a `ValueError`. Numbers broadcast.
macro_rules! bounds {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident(
            [$($given:ident: $read:ident),*] $(, $number:ident: $Domain:ident $(as $convert:ident)?)*
        ), otherwise $expected:literal;
    )*) => {$(
        $(#[doc = $doc])+
        #[pyo3::pyfunction]
        pub(crate) fn $name<'py>(
            py: pyo3::Python<'py>,
            $($given: &pyo3::Bound<'py, pyo3::PyAny>,)*
            $($number: &pyo3::Bound<'py, pyo3::PyAny>,)*
        ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
            use crate::arrays::Columns;
            $(let $given = crate::bounds::$read(stringify!($given), $given)?;)*
            let numbers = Columns::of(py, [$((stringify!($number), $number, crate::arrays::Domain::$Domain)),*])?;
            let bounds = numbers.map(py, |_, [$($number),*]| {
                $($(let $number = $convert($number);)?)*
                [click_models::bounds::$name($(&$given,)* $($number,)*)]
            })?;
            crate::bounds::check_defined(stringify!($name), $expected, &bounds)?;
            bounds.into_python(py)
        }
    )*};
}

pub(crate) mod cascade_bai;
pub(crate) mod dueling;
pub(crate) mod lists;
pub(crate) mod pbm;
pub(crate) mod rank_one;

/// Probabilities of shape (n,); a number that is none is named as by the models.
fn probabilities(name: &'static str, given: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let values = crate::sequence::numbers(name, given)?;
    match values.iter().position(|&value| Probability::new(value).is_err()) {
        Some(index) => Err(value_error(Error::NotAProbability { field: name, index, value: values[index] })),
        None => Ok(values),
    }
}

/// Rewards of shape (n,).
fn rewards(name: &'static str, given: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    vector(name, given, Domain::FiniteNonNegative)
}

/// Refuses the first bound that is NaN; `expected` describes where it is defined.
fn check_defined(name: &str, expected: &str, bounds: &Results<'_>) -> PyResult<()> {
    match bounds.columns.iter().flatten().position(|bound| bound.is_nan()) {
        Some(place) => {
            let place = Place(place, bounds.shape);
            Err(value_error(format!("{name}{place}: expected {expected}")))
        }
        None => Ok(()),
    }
}

/// A result that may be undefined.
fn or_refused<T>(name: &str, expected: &str, result: Option<T>) -> PyResult<T> {
    result.ok_or_else(|| value_error(format!("{name}: expected {expected}")))
}

/// A matrix of preferences.
pub(crate) fn matrix(name: &str, given: &Bound<'_, PyAny>) -> PyResult<PreferenceMatrix> {
    PreferenceMatrix::new(&rows(name, given)?).map_err(value_error)
}
