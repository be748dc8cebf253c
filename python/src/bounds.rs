//! Bounds on the regret and on the rounds of an instance.

use crate::arrays::{Domain, Place, Results, number, vector};
use crate::message::value_error;
use crate::sequence::rows;
use click_models::PreferenceMatrix;
use pyo3::prelude::*;

/// Makes functions of Python from functions of one instance, whose result has a form of its own.
///
/// A row is the docstring, the name, in brackets the arguments that the function borrows with their
/// readers, the others with theirs, what Python sees of a result, and what is expected where there
/// is none.
macro_rules! of_instance {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident([$($given:ident: $read:ident),+] $(, $number:ident: $read_number:path)*) = $seen:expr,
            otherwise $expected:literal;
    )+) => {$(
        $(#[doc = $doc])+
        #[pyo3::pyfunction]
        pub(crate) fn $name<'py>(
            py: pyo3::Python<'py>,
            $($given: &pyo3::Bound<'py, pyo3::PyAny>,)+
            $($number: &pyo3::Bound<'py, pyo3::PyAny>,)*
        ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
            $(let $given = crate::bounds::$read(stringify!($given), $given)?;)+
            $(let $number = $read_number(stringify!($number), $number)?;)*
            let found = py.detach(|| click_models::bounds::$name($(&$given,)+ $($number),*));
            let expected = || crate::message::value_error(concat!(stringify!($name), ": expected ", $expected));
            ($seen)(py, found.ok_or_else(expected)?)
        }
    )+};
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

    /// Adds the functions that a macro makes.
    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use super::{cascade_bai, dueling, lists, pbm, rank_one};
        cascade_bai::add_elementwise(module)?;
        dueling::add_elementwise(module)?;
        lists::add_elementwise(module)?;
        pbm::add_elementwise(module)?;
        rank_one::add_elementwise(module)
    }
}

/// Probabilities of shape (n,); a number that is none is named as by the models.
pub(crate) fn probabilities(name: &'static str, given: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let values = crate::sequence::numbers(name, given)?;
    crate::task::probabilities(name, &values).map(|_| values)
}

/// Rewards of shape (n,).
pub(crate) fn rewards(name: &'static str, given: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    vector(name, given, Domain::FiniteNonNegative)
}

/// Refuses the first bound that is NaN; `expected` describes where it is defined.
pub(crate) fn check_defined(name: &str, expected: &str, bounds: &Results<'_>) -> PyResult<()> {
    match bounds.columns.iter().flatten().position(|bound| bound.is_nan()) {
        Some(place) => {
            let place = Place(place, bounds.shape);
            Err(value_error(format!("{name}{place}: expected {expected}")))
        }
        None => Ok(()),
    }
}

fn non_negative(name: &'static str, given: &Bound<'_, PyAny>) -> PyResult<f64> {
    number(name, given, Domain::FiniteNonNegative)
}

fn error_probability(name: &'static str, given: &Bound<'_, PyAny>) -> PyResult<f64> {
    number(name, given, Domain::ErrorProbability)
}

pub(crate) fn matrix(name: &str, given: &Bound<'_, PyAny>) -> PyResult<PreferenceMatrix> {
    PreferenceMatrix::new(&rows(name, given)?).map_err(value_error)
}
