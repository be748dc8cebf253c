//! Tables of results: named columns of numbers, truth values and texts, for numpy and for every
//! library that reads Arrow.

use crate::message::{none_of, type_error, value_error};
use crate::reduced::reduced;
use arrow_array::cast::AsArray as _;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray, RecordBatch,
    RecordBatchIterator, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use click_logs::parameters::IdType;
use numpy::{Element, PyArray1};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyCapsule, PyDict, PyList, PySlice, PySliceIndices, PyString, PyTuple};
use std::str::FromStr;
use std::sync::Arc;

/// A column: a value for each row, or none where it is missing.
#[derive(Debug, Clone)]
pub(crate) struct Column(ArrayRef);

impl Column {
    /// Floating-point numbers, or `None` where one is missing.
    pub(crate) fn floats(values: impl IntoIterator<Item = impl Into<Option<f64>>>) -> Self {
        Self(Arc::new(values.into_iter().map(Into::into).collect::<Float64Array>()))
    }

    /// Whole numbers of either sign, or `None` where one is missing.
    pub(crate) fn integers(values: impl IntoIterator<Item = impl Into<Option<i64>>>) -> Self {
        Self(Arc::new(values.into_iter().map(Into::into).collect::<Int64Array>()))
    }

    /// Whole numbers from 0, or `None` where one is missing.
    pub(crate) fn counts(values: impl IntoIterator<Item = impl Into<Option<u64>>>) -> Self {
        Self(Arc::new(values.into_iter().map(Into::into).collect::<UInt64Array>()))
    }

    /// Truth values, or `None` where one is missing.
    pub(crate) fn flags(values: impl IntoIterator<Item = impl Into<Option<bool>>>) -> Self {
        Self(Arc::new(values.into_iter().map(Into::into).collect::<BooleanArray>()))
    }

    /// Names of a log, or `None` where one is missing, with the type that they had there.
    pub(crate) fn names<T: AsRef<str>>(names: impl IntoIterator<Item = Option<T>>, of: IdType) -> Self {
        fn numbers<N: FromStr>(names: &[Option<impl AsRef<str>>]) -> Option<Vec<Option<N>>> {
            names
                .iter()
                .map(|name| name.as_ref().map(|name| name.as_ref().parse()).transpose().ok())
                .collect()
        }
        let names: Vec<Option<T>> = names.into_iter().collect();
        let whole = || {
            numbers::<i64>(&names).map(Self::integers).or_else(|| numbers::<u64>(&names).map(Self::counts))
        };
        if of.is_text() { None } else { whole() }.unwrap_or_else(|| Self::texts(names))
    }

    /// Texts, or `None` where one is missing.
    pub(crate) fn texts(values: impl IntoIterator<Item = Option<impl AsRef<str>>>) -> Self {
        Self(Arc::new(values.into_iter().collect::<LargeStringArray>()))
    }
}

/// A table: named columns of one length.
///
/// len(table) is the number of rows, table[name] a column as a numpy array, and iteration gives
/// rows as dicts; table[2:5] is a table of some rows. Libraries that read Arrow take the table as
/// it is, such as pyarrow.table(table).
///
/// Examples:
///     >>> log = {"item": ["a", "b"] * 50, "position": [1, 2] * 50, "click": [1, 0] * 50}
///     >>> table = fit(log, model="pbm").counts
///     >>> table
///     <Table of 2 rows: query, item, position, clicks, impressions>
///     >>> table["clicks"].tolist(), table.head(1)["item"].tolist(), len(table[1:])
///     ([50, 0], ['a'], 1)
///     >>> list(table.to_numpy()) == table.columns
///     True
///     >>> frame = table.to_pandas()  # doctest: +SKIP
///     >>> frame = table.to_polars()  # doctest: +SKIP
#[pyclass(module = "click_bandits", frozen)]
pub(crate) struct Table(RecordBatch);

impl Table {
    /// A table of these columns, in this order.
    ///
    /// # Errors
    ///
    /// `ValueError` if the columns differ in length.
    pub(crate) fn new(columns: impl IntoIterator<Item = (impl Into<String>, Column)>) -> PyResult<Self> {
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns
            .into_iter()
            .map(|(name, Column(array))| (Field::new(name.into(), array.data_type().clone(), true), array))
            .unzip();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map(Self).map_err(value_error)
    }

    /// The columns as libraries that read Arrow get them.
    fn signed(&self) -> PyResult<Self> {
        let columns = self.names().into_iter().zip(self.0.columns());
        Self::new(columns.map(|(name, array)| (name, Column(signed(array)))))
    }
}

#[pymethods]
impl Table {
    /// The names of the columns, in order.
    #[getter(columns)]
    fn names(&self) -> Vec<String> {
        self.0.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// All columns by name, as numpy arrays: a dict, which pandas.DataFrame takes.
    ///
    /// Whole numbers are int64, except for names beyond it; other numbers and truth values have
    /// their own types. A missing number is NaN, in a column of floats; a missing text, truth value
    /// or whole number of either sign, such as a name, is None, in a column of objects.
    pub(crate) fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let named = self.names().into_iter().zip(self.0.columns());
        let arrays = named.map(|(name, array)| Ok((name, to_numpy(py, array)?)));
        arrays.collect::<PyResult<Vec<_>>>()?.into_py_dict(py)
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(slice) = key.cast::<PySlice>() {
            let PySliceIndices { start, step, slicelength, .. } =
                slice.indices(isize::try_from(self.0.num_rows()).unwrap_or(isize::MAX))?;
            if step != 1 && slicelength > 1 {
                return Err(value_error(format!("table[{key}]: expected rows in a row, without a step")));
            }
            let start = usize::try_from(start).unwrap_or(0).min(self.0.num_rows());
            return Ok(Bound::new(py, Self(self.0.slice(start, slicelength)))?.into_any());
        }
        let name: &str = &key.extract::<String>().map_err(|_| {
            type_error(format!("expected the name of a column or a slice of rows, got {}", key.get_type()))
        })?;
        let Some(array) = self.0.column_by_name(name) else {
            let names = self.names();
            let fault = format!("no column {name:?}");
            return Err(PyKeyError::new_err(none_of(fault, name, names.iter().map(String::as_str))));
        };
        to_numpy(py, array)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let names = self.names();
        let columns: Vec<Bound<'py, PyList>> =
            self.0.columns().iter().map(|array| to_list(py, array)).collect::<PyResult<_>>()?;
        let row = |place| {
            let cells = names.iter().zip(&columns).map(|(name, column)| Ok((name, column.get_item(place)?)));
            cells.collect::<PyResult<Vec<_>>>()?.into_py_dict(py)
        };
        let rows = (0..self.0.num_rows()).map(row).collect::<PyResult<Vec<_>>>()?;
        Ok(PyList::new(py, rows)?.try_iter()?.into_any())
    }

    /// The first n rows.
    #[pyo3(signature = (n=5))]
    fn head(&self, n: usize) -> Self {
        Self(self.0.slice(0, n.min(self.0.num_rows())))
    }

    /// The table as a pandas.DataFrame.
    ///
    /// Raises:
    ///     ImportError: pandas is not installed.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("pandas")?.call_method1("DataFrame", (self.to_numpy(py)?,))
    }

    /// The table as a polars.DataFrame.
    ///
    /// Raises:
    ///     ImportError: polars is not installed.
    fn to_polars(slf: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (&slf,))
    }

    /// The table of these columns: name, type and values of each.
    #[staticmethod]
    fn _restored(columns: Vec<(String, String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let restored = columns.into_iter().map(|(name, kind, values)| {
            let column = match kind.as_str() {
                "Float64" => Column::floats(values.extract::<Vec<Option<f64>>>()?),
                "Int64" => Column::integers(values.extract::<Vec<Option<i64>>>()?),
                "UInt64" => Column::counts(values.extract::<Vec<Option<u64>>>()?),
                "Boolean" => Column::flags(values.extract::<Vec<Option<bool>>>()?),
                _ => Column::texts(values.extract::<Vec<Option<String>>>()?),
            };
            Ok((name, column))
        });
        Self::new(restored.collect::<PyResult<Vec<_>>>()?)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let column = |(name, array): (String, &ArrayRef)| {
            PyResult::Ok((name, array.data_type().to_string(), to_list(py, array)?))
        };
        let columns = self.names().into_iter().zip(self.0.columns()).map(column);
        reduced::<Self>(py, "_restored", (columns.collect::<PyResult<Vec<_>>>()?,))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    /// The first rows, for notebooks.
    fn _repr_html_(slf: Bound<'_, Self>) -> PyResult<String> {
        slf.py().import("click_bandits._frames")?.call_method1("html", (&slf,))?.extract()
    }

    /// The schema for libraries that read Arrow.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema =
            FFI_ArrowSchema::try_from(self.signed()?.0.schema_ref().as_ref()).map_err(value_error)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The columns for libraries that read Arrow; counts are int64. Another schema is not
    /// respected, as the interface allows: casts to every type would be a quarter of the package.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let Self(batch) = self.signed()?;
        let schema = batch.schema();
        let batches = RecordBatchIterator::new([Ok(batch)], schema);
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        format!("<Table of {} rows: {}>", self.0.num_rows(), self.names().join(", "))
    }
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Counts as signed numbers, so that their differences do not wrap; names beyond these stay.
fn signed(array: &ArrayRef) -> ArrayRef {
    let counts = array.as_primitive_opt::<UInt64Type>();
    match counts.map(|counts| counts.try_unary::<_, Int64Type, _>(i64::try_from)) {
        Some(Ok(signed)) => Arc::new(signed),
        _ => Arc::clone(array),
    }
}

fn to_numpy<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Bound<'py, PyAny>> {
    fn of<'py, T: Element + Copy>(py: Python<'py>, values: &[T]) -> Bound<'py, PyAny> {
        PyArray1::from_slice(py, values).into_any()
    }
    let missing = array.null_count() > 0;
    let array = &if missing { Arc::clone(array) } else { signed(array) };
    let floats = |values: &mut dyn Iterator<Item = Option<f64>>| {
        of(py, &values.map(|value| value.unwrap_or(f64::NAN)).collect::<Vec<f64>>())
    };
    Ok(match array.data_type() {
        DataType::Float64 if !missing => of(py, array.as_primitive::<Float64Type>().values()),
        DataType::Int64 if !missing => of(py, array.as_primitive::<Int64Type>().values()),
        DataType::UInt64 if !missing => of(py, array.as_primitive::<UInt64Type>().values()),
        DataType::Boolean if !missing => of(py, &array.as_boolean().values().iter().collect::<Vec<bool>>()),
        DataType::Float64 => floats(&mut array.as_primitive::<Float64Type>().iter()),
        DataType::UInt64 if array.as_primitive::<UInt64Type>().iter().flatten().max() <= Some(1 << 53) => {
            floats(
                &mut array.as_primitive::<UInt64Type>().iter().map(|value| value.map(|value| value as f64)),
            )
        }
        _ => {
            let objects: Vec<Py<PyAny>> = to_list(py, array)?.iter().map(Bound::unbind).collect();
            PyArray1::from_vec(py, objects).into_any()
        }
    })
}

/// A list of the column's values, `None` where one is missing.
fn to_list<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
    match array.data_type() {
        DataType::Float64 => PyList::new(py, array.as_primitive::<Float64Type>()),
        DataType::Int64 => PyList::new(py, array.as_primitive::<Int64Type>()),
        DataType::UInt64 => PyList::new(py, array.as_primitive::<UInt64Type>()),
        DataType::Boolean => PyList::new(py, array.as_boolean().iter().collect::<Vec<_>>()),
        _ => {
            // Equal neighbours, such as the name of a query, are one object.
            let mut last: Option<(&str, Bound<'py, PyString>)> = None;
            let texts = array.as_string::<i64>().iter().map(|text| {
                let text = text?;
                match &last {
                    Some((known, object)) if *known == text => Some(object.clone()),
                    _ => {
                        let object = PyString::new(py, text);
                        last = Some((text, object.clone()));
                        Some(object)
                    }
                }
            });
            PyList::new(py, texts.collect::<Vec<_>>())
        }
    }
}
