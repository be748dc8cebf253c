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
    )*) => {
    $(
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
    )*

        /// Adds these functions to a module.
        pub(crate) fn add_bounds(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
            use pyo3::types::PyModuleMethods as _;
            $(module.add_function(pyo3::wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

mod cascade_bai;
mod dueling;
mod lists;
mod pbm;
pub(crate) mod rank_one;

/// The bounds of an instance, as the module `click_bandits.bounds`.
#[pymodule]
pub(crate) mod bounds {
    #[pymodule_export]
    use super::cascade_bai::{
        cascade_bai_gaps, cascade_bai_tolerant_upper_terms, cascade_bai_upper_terms, cascade_optimal_mixture,
    };
    #[pymodule_export]
    use super::{dueling::rucb_duels, pbm::pbm_lower_bound_terms, rank_one::rank_one_hardness};

    /// Adds the functions that macros make.
    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use super::{cascade_bai, dueling, lists, pbm, rank_one};
        cascade_bai::add_elementwise(module)?;
        cascade_bai::add_bounds(module)?;
        dueling::add_bounds(module)?;
        lists::add_bounds(module)?;
        pbm::add_bounds(module)?;
        rank_one::add_bounds(module)
    }
}

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
