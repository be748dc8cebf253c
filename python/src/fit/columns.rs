//! Columns of a table in memory, as rows of a log: Arrow arrays, and numpy arrays copied into them.

use crate::arrays::refuse_masked;
use crate::message::{in_row, type_error, value_error};
use crate::sequence::shape_of;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal128Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayAccessor, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray,
    TimestampMicrosecondArray, UInt64Array,
};
use arrow_schema::{DataType, TimeUnit};
use log_reader::{NUMBERS, ReadColumn, TEXTS, Value};
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

/// Seconds of a day.
const DAY: i64 = 86_400;

/// A column that rows of a log are read from.
#[derive(Debug, Clone)]
pub(super) struct ArrowColumn {
    array: ArrayRef,
    /// Whether the values are lists, as texts with a mark before each element.
    is_list: bool,
}

impl ArrowColumn {
    pub(super) fn array(&self) -> &dyn Array {
        &self.array
    }

    /// # Errors
    ///
    /// `TypeError` if the values are neither numbers, truth values, times nor texts.
    pub(super) fn new(of: &str, name: &str, array: ArrayRef) -> PyResult<Self> {
        let (of_lists, list): (&DataType, &dyn Fn(usize) -> ArrayRef) = match array.data_type() {
            DataType::List(field) => (field.data_type(), &|row| array.as_list::<i32>().value(row)),
            DataType::LargeList(field) => (field.data_type(), &|row| array.as_list::<i64>().value(row)),
            DataType::FixedSizeList(field, _) => {
                (field.data_type(), &|row| array.as_fixed_size_list().value(row))
            }
            found if is_supported(found) => return Ok(Self { array, is_list: false }),
            found => return Err(unsupported(of, name, found)),
        };
        if !is_supported(of_lists) {
            return Err(unsupported(of, name, array.data_type()));
        }
        // None of a row that is missing.
        let present = |row| if array.is_null(row) { list(row).slice(0, 0) } else { list(row) };
        Ok(Self::of_lists((0..array.len()).map(present)))
    }

    /// A column of a dict or a data frame, copied; its values may be lists.
    ///
    /// # Errors
    ///
    /// As [`copied`].
    pub(super) fn copied(of: &str, name: &str, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = given.py();
        refuse_masked(&format!("column {name:?}"), given)?;
        let is_list = |row: &Bound<'_, PyAny>| {
            let is_array = shape_of(row).is_some_and(|shape| !shape.is_empty());
            is_array || row.cast::<PyList>().is_ok() || row.cast::<PyTuple>().is_ok()
        };
        match given.try_iter().ok().and_then(|mut rows| rows.next()).transpose()? {
            Some(first) if is_list(&first) => {}
            _ => return Self::new(of, name, copied(of, py, name, given)?),
        }
        let (all, mut ends) = (PyList::empty(py), vec![0]);
        for row in given.try_iter()? {
            let row = row?;
            for element in if row.is_none() { PyList::empty(py).try_iter()? } else { row.try_iter()? } {
                all.append(element?)?;
            }
            ends.push(all.len());
        }
        let all = copied(of, py, name, all.as_any())?;
        Ok(Self::of_lists(ends.windows(2).map(|pair| all.slice(pair[0], pair[1] - pair[0]))))
    }

    fn of_lists(lists: impl Iterator<Item = ArrayRef>) -> Self {
        let texts = lists.map(|list| {
            let (mut elements, mut text) = (Vec::new(), String::new());
            values(&*list, 0..list.len(), &mut elements);
            let is_text = elements.iter().any(|element| matches!(element, Value::Text(_)));
            for element in elements {
                text.push(char::from(if is_text { TEXTS } else { NUMBERS }));
                text.push_str(&String::from_utf8_lossy(&element.bytes()));
            }
            Some(text)
        });
        Self { array: Arc::new(texts.collect::<LargeStringArray>()), is_list: true }
    }

    pub(super) fn len(&self) -> usize {
        self.array.len()
    }
}

fn is_supported(of: &DataType) -> bool {
    match of {
        DataType::Null
        | DataType::Boolean
        | DataType::Float32
        | DataType::Float64
        | DataType::Decimal128(..)
        | DataType::Date32
        | DataType::Date64
        | DataType::Timestamp(..)
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_supported(values),
        other => other.is_integer(),
    }
}

impl ReadColumn for ArrowColumn {
    fn values<'a>(&'a self, rows: Range<usize>, into: &mut Vec<Value<'a>>) {
        let end = rows.end.min(self.len());
        values(&*self.array, rows.start.min(end)..end, into);
    }

    fn is_list(&self) -> bool {
        self.is_list
    }
}

fn values<'a>(array: &'a dyn Array, rows: Range<usize>, into: &mut Vec<Value<'a>>) {
    match array.data_type() {
        DataType::Int8 => numbers::<Int8Type>(array, rows, into, |value| i64::from(value).into()),
        DataType::Int16 => numbers::<Int16Type>(array, rows, into, |value| i64::from(value).into()),
        DataType::Int32 => numbers::<Int32Type>(array, rows, into, |value| i64::from(value).into()),
        DataType::Int64 => numbers::<Int64Type>(array, rows, into, Value::from),
        DataType::UInt8 => numbers::<UInt8Type>(array, rows, into, |value| u64::from(value).into()),
        DataType::UInt16 => numbers::<UInt16Type>(array, rows, into, |value| u64::from(value).into()),
        DataType::UInt32 => numbers::<UInt32Type>(array, rows, into, |value| u64::from(value).into()),
        DataType::UInt64 => numbers::<UInt64Type>(array, rows, into, Value::from),
        DataType::Float32 => numbers::<Float32Type>(array, rows, into, |value| f64::from(value).into()),
        DataType::Float64 => numbers::<Float64Type>(array, rows, into, Value::from),
        DataType::Decimal128(_, scale) => {
            numbers::<Decimal128Type>(array, rows, into, |value| decimal(value, *scale));
        }
        DataType::Date32 => numbers::<Date32Type>(array, rows, into, |value| Value::Time(value.into(), 1)),
        DataType::Date64 => times::<Date64Type>(array, rows, into, 1000),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => times::<TimestampSecondType>(array, rows, into, 1),
            TimeUnit::Millisecond => times::<TimestampMillisecondType>(array, rows, into, 1000),
            TimeUnit::Microsecond => times::<TimestampMicrosecondType>(array, rows, into, 1_000_000),
            TimeUnit::Nanosecond => times::<TimestampNanosecondType>(array, rows, into, 1_000_000_000),
        },
        DataType::Boolean => each(array.as_boolean(), rows, into, Value::from),
        DataType::Utf8 => each(array.as_string::<i32>(), rows, into, Value::from),
        DataType::LargeUtf8 => each(array.as_string::<i64>(), rows, into, Value::from),
        DataType::Utf8View => each(array.as_string_view(), rows, into, Value::from),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let (keys, known) = (dictionary.keys(), &**dictionary.values());
            let mut key = Vec::with_capacity(1);
            for row in rows {
                key.clear();
                values(keys, row..row + 1, &mut key);
                match key.first() {
                    Some(Value::Number(place)) if *place < known.len() as u64 => {
                        let place = usize::try_from(*place).unwrap_or(0);
                        values(known, place..place + 1, into);
                    }
                    _ => into.push(Value::Missing),
                }
            }
        }
        // Null; other types were refused.
        _ => into.extend(rows.map(|_| Value::Missing)),
    }
}

fn numbers<'a, T: ArrowPrimitiveType>(
    array: &'a dyn Array,
    rows: Range<usize>,
    into: &mut Vec<Value<'a>>,
    value: impl Fn(T::Native) -> Value<'a>,
) {
    let array = array.as_primitive::<T>();
    if array.null_count() == 0 {
        into.extend(array.values()[rows].iter().map(|&number| value(number)));
    } else {
        each(array, rows, into, value);
    }
}

/// Times in ticks; `of_second` is the number of ticks in a second.
fn times<'a, T: ArrowPrimitiveType<Native = i64>>(
    array: &'a dyn Array,
    rows: Range<usize>,
    into: &mut Vec<Value<'a>>,
    of_second: i64,
) {
    numbers::<T>(array, rows, into, |value| Value::Time(value, DAY * of_second));
}

/// A decimal number, such as a sum of DuckDB: whole numbers are taken as such.
fn decimal(value: i128, scale: i8) -> Value<'static> {
    let unit = 10_i128.checked_pow(scale.unsigned_abs().into());
    let whole = unit.and_then(|unit| match scale {
        ..0 => value.checked_mul(unit),
        _ => (value % unit == 0).then(|| value / unit),
    });
    let fraction = || Value::Fraction(value as f64 / 10_f64.powi(scale.into()));
    let negative = |whole| i64::try_from(whole).map_or_else(|_| fraction(), Value::from);
    whole.map_or_else(fraction, |whole| u64::try_from(whole).map_or_else(|_| negative(whole), Value::from))
}

fn each<'a, A: ArrayAccessor>(
    array: A,
    rows: Range<usize>,
    into: &mut Vec<Value<'a>>,
    value: impl Fn(A::Item) -> Value<'a>,
) {
    into.extend(rows.map(|row| if array.is_null(row) { Value::Missing } else { value(array.value(row)) }));
}

/// A copy of a one-dimensional array or sequence: other threads may write to arrays while the
/// interpreter's lock is released. In floats and objects, NaN and None are missing values.
///
/// # Errors
///
/// `TypeError` for other types, with the row of an object that is not a text or a whole number.
fn copied(of: &str, py: Python<'_>, name: &str, given: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    refuse_masked(&format!("column {name:?}"), given)?;
    let numpy = py.import("numpy")?;
    let mut array = numpy.call_method1("asarray", (given,))?;
    let kind_of = |array: &Bound<'_, PyAny>| array.getattr("dtype")?.getattr("kind")?.extract::<String>();
    if kind_of(&array)? == "U" && !given.hasattr("dtype")? {
        // numpy turned all objects of a sequence into texts, whatever they were.
        array = numpy.call_method1("asarray", (given, "O"))?;
    }
    let n_dimensions: usize = array.getattr("ndim")?.extract()?;
    if n_dimensions != 1 {
        return Err(type_error(format!(
            "{of}: column `{name}` has {n_dimensions} dimensions or is there twice: expected one array with a value for each row"
        )));
    }
    Ok(match kind_of(&array)?.as_str() {
        "b" => Arc::new(BooleanArray::from(vector::<bool>(&array, "bool")?)),
        "i" => Arc::new(Int64Array::from(vector::<i64>(&array, "int64")?)),
        "u" => Arc::new(UInt64Array::from(vector::<u64>(&array, "uint64")?)),
        "f" => {
            let values = vector::<f64>(&array, "float64")?;
            if values.iter().any(|value| value.is_nan()) {
                let present = |value: f64| (!value.is_nan()).then_some(value);
                Arc::new(values.into_iter().map(present).collect::<Float64Array>())
            } else {
                Arc::new(Float64Array::from(values))
            }
        }
        "M" => {
            let ticks = vector::<i64>(&array.call_method1("astype", ("datetime64[us]",))?, "int64")?;
            // NaT.
            let present = |ticks: i64| (ticks != i64::MIN).then_some(ticks);
            Arc::new(ticks.into_iter().map(present).collect::<TimestampMicrosecondArray>())
        }
        "O" | "U" | "T" => {
            let objects = array.call_method0("tolist")?;
            if let Ok(numbers) = objects.extract::<Vec<Option<i64>>>() {
                return Ok(Arc::new(Int64Array::from(numbers)));
            }
            let mut found = [false; 2];
            let texts = objects.try_iter()?.enumerate().map(|(row, object)| {
                let object = object?;
                found[0] |= object.is_instance_of::<PyString>();
                found[1] |= object.is_instance_of::<PyInt>();
                if found == [true; 2] {
                    let mixes = "mixes whole numbers and texts: give all one type";
                    return Err(value_error(in_row(of, row, name, mixes)));
                }
                text(of, name, row, &object)
            });
            Arc::new(texts.collect::<PyResult<LargeStringArray>>()?)
        }
        _ => {
            return Err(unsupported(of, name, array.getattr("dtype")?));
        }
    })
}

fn unsupported(of: &str, name: &str, found: impl Display) -> PyErr {
    type_error(format!(
        "{of}: column `{name}` has type {found}: expected whole numbers, truth values, times or texts"
    ))
}

fn vector<T: Element + Copy>(array: &Bound<'_, PyAny>, of: &str) -> PyResult<Vec<T>> {
    let array = array.call_method1("astype", (of,))?.cast_into::<PyArray1<T>>()?;
    Ok(array.try_readonly()?.as_array().iter().copied().collect())
}

/// A text, a date or a time as text, or a whole number as text, which is the same name.
pub(super) fn text(of: &str, name: &str, row: usize, object: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let is_nan =
        || object.cast::<PyFloat>().is_ok_and(|number| number.extract::<f64>().is_ok_and(f64::is_nan));
    if let Ok(truth) = object.cast::<PyBool>() {
        Ok(Some(u8::from(truth.is_true()).to_string()))
    } else if let Ok(text) = object.cast::<PyString>() {
        Ok(Some(text.to_string_lossy().into_owned()))
    } else if object.is_none() || is_nan() {
        Ok(None)
    } else if object.cast::<PyInt>().is_ok() {
        Ok(Some(object.str()?.to_string_lossy().into_owned()))
    } else if object.hasattr("isoformat")? {
        let text: String = object.call_method0("isoformat")?.extract()?;
        // Of pandas.
        Ok(Some(text).filter(|text| text != "NaT"))
    } else {
        let found = object.get_type().name()?;
        Err(type_error(in_row(of, row, name, format!("expected a text or a whole number, found {found}"))))
    }
}
