//! Numbers from Python, of any shape: checked, and broadcast to a common shape.

use crate::message::{memory_error, type_error, value_error};
use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArray};
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// The numbers that an argument may have. NaN is never one of them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Domain {
    /// From 0 to 1.
    Probability,
    /// Above 0 and below 1.
    ErrorProbability,
    /// At least 0; may be infinite.
    NonNegative,
    /// At least 0 and finite.
    FiniteNonNegative,
    /// Any number that is finite.
    Finite,
    /// A whole number from 0 to 2^53, up to which floating-point numbers are exact.
    Count,
    /// A number of positions that a function goes through one by one: a whole number from 0 to
    /// 2^20.
    Positions,
}

impl Domain {
    pub(crate) fn contains(self, number: f64) -> bool {
        let whole = |most: f64| (0.0..=most).contains(&number) && number.fract() == 0.0;
        match self {
            Self::Probability => (0.0..=1.0).contains(&number),
            Self::ErrorProbability => 0.0 < number && number < 1.0,
            Self::NonNegative => number >= 0.0,
            Self::FiniteNonNegative => (0.0..f64::INFINITY).contains(&number),
            Self::Finite => number.is_finite(),
            Self::Count => whole(9_007_199_254_740_992.0),
            Self::Positions => whole(1_048_576.0),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Probability => "a number from 0 to 1",
            Self::ErrorProbability => "a number above 0 and below 1",
            Self::NonNegative => "a number that is at least 0",
            Self::FiniteNonNegative => "a finite number that is at least 0",
            Self::Finite => "a finite number",
            Self::Count => "a whole number from 0 to 2^53",
            Self::Positions => "a whole number from 0 to 2^20",
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
    pub(crate) fn spread(self, n: usize) -> PyResult<Vec<f64>> {
        match self {
            Self::One(number) => {
                let mut numbers = room(n)?;
                numbers.resize(n, number);
                Ok(numbers)
            }
            Self::Many(numbers) => Ok(numbers),
        }
    }
}

/// Arguments of a common shape. They are copied: other threads may write to arrays while the
/// interpreter's lock is released.
pub(crate) struct Columns<const N: usize> {
    pub(crate) shape: Vec<usize>,
    pub(crate) columns: [Column; N],
}

impl<const N: usize> Columns<N> {
    /// Checks and broadcasts the arguments, as numpy does.
    pub(crate) fn of(py: Python<'_>, arguments: [Argument<'_, '_>; N]) -> PyResult<Self> {
        let (shape, columns) = broadcast(py, &arguments)?;
        let columns = columns.try_into().map_err(|_| value_error("an argument is missing"))?;
        Ok(Self { shape, columns })
    }

    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// `M` numbers at each place from the arguments there, without the interpreter's lock.
    pub(crate) fn map<const M: usize>(
        &self,
        py: Python<'_>,
        compute: impl Fn([f64; N]) -> [f64; M] + Sync,
    ) -> PyResult<Results<'_>> {
        Results::computed(py, &self.shape, M, &|place, numbers| {
            numbers.copy_from_slice(&compute(self.columns.each_ref().map(|column| column.get(place))));
        })
    }
}

/// The common shape, and the numbers of each argument.
fn broadcast(py: Python<'_>, arguments: &[Argument<'_, '_>]) -> PyResult<(Vec<usize>, Vec<Column>)> {
    let arrays: Vec<Bound<'_, PyArrayDyn<f64>>> =
        arguments.iter().map(|(name, given, _)| as_floats(py, name, given)).collect::<PyResult<_>>()?;
    let shapes: Vec<Vec<usize>> =
        arrays.iter().map(|array| array.getattr("shape")?.extract()).collect::<PyResult<_>>()?;
    let named = arguments.iter().zip(&shapes).map(|((name, ..), shape)| (*name, &shape[..]));
    let shape = common_shape(&named.collect::<Vec<_>>())?;
    let mut columns = Vec::with_capacity(arguments.len());
    for ((name, _, domain), array) in arguments.iter().zip(&arrays) {
        let array = array.try_readonly()?;
        let view = array.as_array();
        let (column, fit) = match (view.len(), view.as_slice()) {
            (1, _) => {
                let number = view.iter().copied().next().unwrap_or(f64::NAN);
                (Column::One(number), domain.contains(number))
            }
            (_, Some(numbers)) if view.shape() == shape => {
                let (copied, fit) = checked_copy(numbers, *domain)?;
                (Column::Many(copied), fit)
            }
            _ => {
                let wide = view.broadcast(shape.clone()).ok_or_else(|| value_error("shapes differ"))?;
                let mut numbers = room(wide.len())?;
                let fit = view.iter().all(|&number| domain.contains(number));
                numbers.extend(wide.iter().copied());
                (Column::Many(numbers), fit)
            }
        };
        if !fit {
            check(name, view.iter().copied(), view.shape(), *domain)?;
        }
        columns.push(column);
    }
    Ok((shape, columns))
}

/// Numbers computed at each place of a shape.
pub(crate) struct Results<'a> {
    pub(crate) shape: &'a [usize],
    /// Each with a number for each place.
    pub(crate) columns: Vec<Vec<f64>>,
}

impl<'a> Results<'a> {
    fn computed(
        py: Python<'_>,
        shape: &'a [usize],
        n: usize,
        compute: &(dyn Fn(usize, &mut [f64]) + Sync),
    ) -> PyResult<Self> {
        let places = shape.iter().product();
        let mut columns = (0..n).map(|_| room(places)).collect::<PyResult<Vec<Vec<f64>>>>()?;
        py.detach(|| {
            let mut numbers = vec![0.0; n];
            for place in 0..places {
                compute(place, &mut numbers);
                for (column, &number) in columns.iter_mut().zip(&numbers) {
                    column.push(number);
                }
            }
        });
        Ok(Self { shape, columns })
    }

    /// An array or a float, or a tuple of several.
    pub(crate) fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let columns = self.columns.into_iter().map(|numbers| to_python(py, numbers, self.shape));
        match &columns.collect::<PyResult<Vec<_>>>()?[..] {
            [only] => Ok(only.clone()),
            several => Ok(PyTuple::new(py, several)?.into_any()),
        }
    }
}

/// Refuses the first number outside the domain.
pub(crate) fn check(
    name: &str,
    mut numbers: impl Iterator<Item = f64>,
    shape: &[usize],
    domain: Domain,
) -> PyResult<()> {
    let mut wrong = 0.0;
    let found = numbers.position(|number| {
        wrong = number;
        !domain.contains(number)
    });
    match found {
        Some(place) => {
            let place = Place(place, shape);
            Err(value_error(format!("{name}{place} is {wrong}: expected {}", domain.words())))
        }
        None => Ok(()),
    }
}

/// A place in an array of this shape, such as `[1, 2]`; nothing for a number.
pub(crate) struct Place<'a>(pub(crate) usize, pub(crate) &'a [usize]);

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(mut place, shape) = *self;
        let mut indices = vec![0; shape.len()];
        for (index, &size) in indices.iter_mut().zip(shape).rev() {
            *index = place % size.max(1);
            place /= size.max(1);
        }
        if indices.is_empty() { Ok(()) } else { write!(f, "{indices:?}") }
    }
}

/// A shape as numpy writes it.
pub(crate) struct Shape<'a>(pub(crate) &'a [usize]);

impl std::fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            [one] => write!(f, "({one},)"),
            sizes => write!(f, "({})", sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        }
    }
}

pub(crate) fn common_shape(named: &[(&str, &[usize])]) -> PyResult<Vec<usize>> {
    let n = named.iter().map(|(_, shape)| shape.len()).max().unwrap_or(0);
    let mut common = vec![1; n];
    for (_, shape) in named {
        for (size, &own) in common.iter_mut().rev().zip(shape.iter().rev()) {
            if *size == 1 {
                *size = own;
            } else if own != 1 && own != *size {
                let shapes: Vec<String> =
                    named.iter().map(|(name, shape)| format!("{name} {}", Shape(shape))).collect();
                return Err(value_error(format!("shapes do not broadcast: {}", shapes.join(", "))));
            }
        }
    }
    let bytes = |bytes: usize, &size: &usize| bytes.checked_mul(size);
    if common.contains(&0) || common.iter().try_fold(size_of::<f64>(), bytes).is_some() {
        Ok(common)
    } else {
        Err(memory_error(format!("no memory for an array of shape {}", Shape(&common))))
    }
}

/// An empty vector with room for `n` numbers.
pub(crate) fn room<T>(n: usize) -> PyResult<Vec<T>> {
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(n).map_err(|_| memory_error(format!("no memory for {n} numbers")))?;
    Ok(numbers)
}

/// A copy, and whether all numbers are in the domain. Each block is checked while it is in the
/// cache.
fn checked_copy(numbers: &[f64], domain: Domain) -> PyResult<(Vec<f64>, bool)> {
    let mut copied = room(numbers.len())?;
    let mut fit = true;
    for block in numbers.chunks(1024) {
        copied.extend_from_slice(block);
        fit &= block.iter().fold(true, |fit, &number| fit & domain.contains(number));
    }
    Ok((copied, fit))
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

/// The value of one user, or an array of those of several.
pub(crate) fn one_or_array<'py, T: Element + IntoPyObject<'py>>(
    py: Python<'py>,
    is_one: bool,
    mut values: Vec<T>,
) -> PyResult<Bound<'py, PyAny>> {
    match values.pop_if(|_| is_one) {
        Some(value) => value.into_bound_py_any(py),
        None => Ok(PyArray1::from_vec(py, values).into_any()),
    }
}

pub(crate) fn number(name: &'static str, given: &Bound<'_, PyAny>, domain: Domain) -> PyResult<f64> {
    let Columns { shape, columns: [number] } = Columns::of(given.py(), [(name, given, domain)])?;
    if shape.is_empty() {
        Ok(number.get(0))
    } else {
        Err(value_error(format!("{name}: expected a number, got an array of shape {}", Shape(&shape))))
    }
}

/// Numbers of shape (n,).
pub(crate) fn vector(name: &'static str, given: &Bound<'_, PyAny>, domain: Domain) -> PyResult<Vec<f64>> {
    let Columns { shape, columns: [numbers] } = Columns::of(given.py(), [(name, given, domain)])?;
    match shape[..] {
        [n] => numbers.spread(n),
        _ => Err(value_error(format!("{name}: expected shape (n,), got {}", Shape(&shape)))),
    }
}

/// Numbers of this shape, row by row.
pub(crate) fn of_shape(
    name: &'static str,
    given: &Bound<'_, PyAny>,
    domain: Domain,
    expected: &[usize],
) -> PyResult<Vec<f64>> {
    let columns = Columns::of(given.py(), [(name, given, domain)])?;
    if columns.shape != expected {
        return Err(wrong_shape(name, &columns.shape, expected));
    }
    let n = columns.len();
    let [numbers] = columns.columns;
    numbers.spread(n)
}

pub(crate) fn wrong_shape(name: &str, found: &[usize], expected: &[usize]) -> PyErr {
    value_error(format!("{name}: expected shape {}, got {}", Shape(expected), Shape(found)))
}

/// Refuses a masked array: as a plain one, what is masked would count.
pub(crate) fn refuse_masked(name: &str, given: &Bound<'_, PyAny>) -> PyResult<()> {
    if given.cast::<PyUntypedArray>().is_ok() && given.hasattr("mask")? {
        return Err(type_error(format!("{name}: expected a plain array, got a masked one")));
    }
    Ok(())
}

/// A numpy array of what was given, and the kind of its elements.
pub(crate) fn as_array<'py>(name: &str, given: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, String)> {
    refuse_masked(name, given)?;
    let array = numpy::get_array_module(given.py())?.call_method1("asarray", (given,));
    let array = array.map_err(|error| {
        // Rows of different lengths. Exceptions of other objects are their own.
        let is_list = given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>();
        if is_list && error.is_instance_of::<PyValueError>(given.py()) {
            value_error(format!("{name}: expected an array of numbers: {}", error.value(given.py())))
        } else {
            error
        }
    })?;
    let kind = array.getattr("dtype")?.getattr("kind")?.extract()?;
    Ok((array, kind))
}

/// An aligned array of 64-bit floating-point numbers.
fn as_floats<'py>(
    py: Python<'py>,
    name: &str,
    given: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let (array, kind) = as_array(name, given)?;
    if !matches!(kind.as_str(), "i" | "u" | "f") {
        let found = array.getattr("dtype")?;
        return Err(type_error(format!("{name}: expected numbers, got an array of {found}")));
    }
    let array = py.import("numpy")?.call_method1("require", (array, "float64", "A"))?;
    Ok(array.cast_into::<PyArrayDyn<f64>>()?)
}
