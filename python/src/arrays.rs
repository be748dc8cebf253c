//! Numbers from Python, of any shape: checked, and broadcast to a common shape.

use crate::message::{type_error, value_error};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;

/// The numbers that an argument may have. NaN is never one of them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Domain {
    /// From 0 to 1.
    Probability,
    /// At least 0; may be infinite.
    NonNegative,
    /// A whole number from 0 to 2^53, up to which floating-point numbers are exact.
    Count,
}

impl Domain {
    fn contains(self, number: f64) -> bool {
        match self {
            Self::Probability => (0.0..=1.0).contains(&number),
            Self::NonNegative => number >= 0.0,
            Self::Count => (0.0..=9_007_199_254_740_992.0).contains(&number) && number.fract() == 0.0,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Probability => "a number from 0 to 1",
            Self::NonNegative => "a number that is at least 0",
            Self::Count => "a whole number from 0 to 2^53",
        }
    }
}

/// An argument: its name, its value and what it may be.
pub(crate) type Argument<'a, 'py> = (&'static str, &'a Bound<'py, PyAny>, Domain);

/// The numbers of one argument.
#[derive(Debug)]
pub(crate) enum Column {
    /// The same number everywhere.
    One(f64),
    /// A number for each place.
    Many(Vec<f64>),
}

impl Column {
    pub(crate) fn get(&self, place: usize) -> f64 {
        match self {
            Self::One(number) => *number,
            Self::Many(numbers) => numbers[place],
        }
    }

    /// A number for each of `n` places.
    pub(crate) fn spread(self, n: usize) -> Vec<f64> {
        match self {
            Self::One(number) => vec![number; n],
            Self::Many(numbers) => numbers,
        }
    }
}

/// Arguments of a common shape. They are copied: other threads may write to arrays while the interpreter's lock is released.
pub(crate) struct Columns<const N: usize> {
    pub(crate) shape: Vec<usize>,
    pub(crate) columns: [Column; N],
}

impl<const N: usize> Columns<N> {
    /// Checks and broadcasts the arguments, as numpy does.
    pub(crate) fn of(py: Python<'_>, arguments: [Argument<'_, '_>; N]) -> PyResult<Self> {
        let arrays: Vec<Bound<'_, PyArrayDyn<f64>>> =
            arguments.iter().map(|(name, given, _)| as_floats(py, name, given)).collect::<PyResult<_>>()?;
        let shapes: Vec<Vec<usize>> =
            arrays.iter().map(|array| array.getattr("shape")?.extract()).collect::<PyResult<_>>()?;
        let numpy = py.import("numpy")?;
        let tuples =
            shapes.iter().map(|shape| pyo3::types::PyTuple::new(py, shape)).collect::<PyResult<Vec<_>>>()?;
        let shape: Vec<usize> =
            numpy.call_method1("broadcast_shapes", pyo3::types::PyTuple::new(py, tuples)?)?.extract()?;
        let mut columns = Vec::with_capacity(N);
        for ((name, _, domain), array) in arguments.iter().zip(&arrays) {
            let array = array.try_readonly()?;
            let view = array.as_array();
            let (column, fit) = match (view.len(), view.as_slice()) {
                (1, _) => {
                    let number = view.iter().copied().next().unwrap_or(f64::NAN);
                    (Column::One(number), domain.contains(number))
                }
                (_, Some(numbers)) if view.shape() == shape => {
                    let (copied, fit) = checked_copy(numbers, *domain);
                    (Column::Many(copied), fit)
                }
                _ => {
                    let wide = view.broadcast(shape.clone()).ok_or_else(|| value_error("shapes differ"))?;
                    let fit = view.iter().all(|&number| domain.contains(number));
                    (Column::Many(wide.iter().copied().collect()), fit)
                }
            };
            if !fit && let Some(number) = view.iter().find(|&&number| !domain.contains(number)) {
                return Err(value_error(format!("{name} is {number}: expected {}", domain.words())));
            }
            columns.push(column);
        }
        let columns = columns.try_into().map_err(|_| value_error("an argument is missing"))?;
        Ok(Self { shape, columns })
    }

    /// Number of places.
    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }
}

/// A copy, and whether all numbers are in the domain. Each block is checked while it is in the cache.
fn checked_copy(numbers: &[f64], domain: Domain) -> (Vec<f64>, bool) {
    let mut copied = Vec::with_capacity(numbers.len());
    let mut fit = true;
    for block in numbers.chunks(1024) {
        copied.extend_from_slice(block);
        fit &= block.iter().fold(true, |fit, &number| fit & domain.contains(number));
    }
    (copied, fit)
}

/// An array of this shape, or a float for the shape of a number.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    numbers: Vec<f64>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    if let (true, [number]) = (shape.is_empty(), &numbers[..]) {
        return Ok(number.into_pyobject(py)?.into_any());
    }
    Ok(PyArray1::from_vec(py, numbers).reshape(shape.to_vec())?.into_any())
}

/// An aligned array of 64-bit floating-point numbers.
fn as_floats<'py>(
    py: Python<'py>,
    name: &str,
    given: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let numpy = py.import("numpy")?;
    let array = numpy.call_method1("asarray", (given,))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if !matches!(kind.as_str(), "i" | "u" | "f") {
        let found = array.getattr("dtype")?;
        return Err(type_error(format!("{name}: expected numbers, got an array of {found}")));
    }
    let array = numpy.call_method1("require", (array, "float64", "A"))?;
    Ok(array.cast_into::<PyArrayDyn<f64>>()?)
}
