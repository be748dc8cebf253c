//! Functions of numbers as functions over arrays.

/// A whole number that the domain `Count` or `Positions` has admitted.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number from 0 to 2^53")]
pub(crate) fn whole(number: f64) -> u64 {
    number as u64
}

/// As [`whole`], for sizes.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number from 0 to 2^53")]
pub(crate) fn size(number: f64) -> usize {
    number as usize
}

/// The result of a function of numbers: a number, or several.
pub(crate) trait Numbers<const M: usize> {
    fn all(self) -> [f64; M];
}

impl Numbers<1> for f64 {
    fn all(self) -> [f64; 1] {
        [self]
    }
}

impl<const M: usize> Numbers<M> for [f64; M] {
    fn all(self) -> Self {
        self
    }
}

/// Makes functions over arrays from functions of numbers.
///
/// A row is the docstring, the name, the arguments with what they may be, and the function, which
/// returns a number, or an array of numbers for a tuple of results. After
/// `;`, a string that selects a variant: its default and the function that reads it. The function
/// then takes the variant as its last argument.
macro_rules! elementwise {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident(
            $($argument:ident: $Domain:ident),+ $(; $option:ident = $default:literal, $read:path)?
        ) = $compute:expr;
    )*) => {
    $(
        $(#[doc = $doc])+
        #[pyo3::pyfunction]
        #[pyo3(signature = ($($argument),+ $(, *, $option = $default)?))]
        pub(crate) fn $name<'py>(
            py: pyo3::Python<'py>,
            $($argument: &pyo3::Bound<'py, pyo3::PyAny>,)+
            $($option: &str,)?
        ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
            use crate::arrays::{Columns, Domain};
            use crate::elementwise::Numbers as _;
            $(let $option = $read(stringify!($option), $option)?;)?
            let arguments = [$((stringify!($argument), $argument, Domain::$Domain)),+];
            let compute = |_, [$($argument),+]: [f64; _]| ($compute)($($argument,)+ $($option)?).all();
            Columns::of(py, arguments)?.map(py, compute)?.into_python(py)
        }
    )*

        /// Adds these functions to a module.
        pub(crate) fn add_elementwise(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
            use pyo3::types::PyModuleMethods as _;
            $(module.add_function(pyo3::wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

pub(crate) use elementwise;
