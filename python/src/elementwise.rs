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
/// A row is the docstring, the name, in brackets the arguments of one value with their readers, the
/// numbers with what they may be and become, and the function, which returns a number, or an array
/// of numbers for a tuple of results; without one it is that of `click_models::bounds`. After `;`,
/// a string that selects a variant: its default and the function that reads it. The function then
/// takes the variant as its last argument. After `otherwise`, what is expected where the function
/// is not defined: its NaN is a `ValueError`. Numbers broadcast.
macro_rules! elementwise {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident(
            $([$($given:ident: $read_given:ident),*])? $(,)? $($argument:ident: $Domain:ident $(as $convert:ident)?),*
            $(; $option:ident = $default:literal, $read:path)?
        ) $(= $compute:expr)? $(, otherwise $expected:literal)?;
    )*) => {
    $(
        $(#[doc = $doc])+
        #[pyo3::pyfunction]
        #[pyo3(signature = ($($($given,)*)? $($argument),* $(, *, $option = $default)?))]
        pub(crate) fn $name<'py>(
            py: pyo3::Python<'py>,
            $($($given: &pyo3::Bound<'py, pyo3::PyAny>,)*)?
            $($argument: &pyo3::Bound<'py, pyo3::PyAny>,)*
            $($option: &str,)?
        ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
            use crate::arrays::Columns;
            use crate::elementwise::Numbers as _;
            $($(let $given = crate::bounds::$read_given(stringify!($given), $given)?;)*)?
            $(let $option = $read(stringify!($option), $option)?;)?
            let columns = Columns::of(py, [$((stringify!($argument), $argument, crate::arrays::Domain::$Domain)),*])?;
            let results = columns.map(py, |[$($argument),*]: [f64; _]| {
                $($(let $argument = $convert($argument);)?)*
                (elementwise!(@of $name $($compute)?))($($(&$given,)*)? $($argument,)* $($option)?).all()
            })?;
            $(crate::bounds::check_defined(stringify!($name), $expected, &results)?;)?
            results.into_python(py)
        }
    )*

        /// Adds these functions to a module.
        pub(crate) fn add_elementwise(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
            use pyo3::types::PyModuleMethods as _;
            $(module.add_function(pyo3::wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
    (@of $name:ident) => { click_models::bounds::$name };
    (@of $name:ident $compute:expr) => { $compute };
}

pub(crate) use elementwise;
