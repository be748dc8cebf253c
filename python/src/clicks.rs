//! Answers of users, from Python objects: checked, and as sets of clicks.

use crate::arrays::{Place, as_array, wrong_shape};
use crate::message::{type_error, value_error};
use crate::play::filled;
use click_models::Clicks;
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use policies::catalogue::Protocol;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyList, PyTuple};

/// The clicks of one user on an action of `width` numbers.
pub(crate) fn one(
    protocol: Protocol,
    action: &[u32],
    clicks: &Bound<'_, PyAny>,
    observed: Option<&Bound<'_, PyAny>>,
) -> PyResult<Clicks> {
    if !protocol.has_lists() {
        refuse_observed(protocol, observed)?;
        let clicked = match protocol {
            Protocol::RankOne => flag(clicks)?,
            _ => is_first(action, integer("the winner", clicks)?, None)?,
        };
        return single(clicked);
    }
    let bits = row_of(clicks, action.len())?;
    let observed = match observed {
        None => action.len(),
        Some(observed) => {
            refuse_observed(protocol, Some(observed))?;
            length(integer("observed", observed)?, action.len(), None)?
        }
    };
    list(protocol, bits, observed, None)
}

/// The clicks of many users; `actions` holds `width` numbers for each.
pub(crate) fn many(
    protocol: Protocol,
    actions: &[u32],
    width: usize,
    clicks: &Bound<'_, PyAny>,
    observed: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Clicks>> {
    let n = actions.len() / width;
    if !protocol.has_lists() {
        refuse_observed(protocol, observed)?;
        if protocol == Protocol::RankOne {
            return flags("clicks", clicks, &[n])?.into_iter().map(|flag| single(flag == 1)).collect();
        }
        let winners = integers("the winners", clicks, &[n])?;
        let pairs = actions.chunks_exact(width).zip(winners).enumerate();
        return pairs.map(|(row, (pair, winner))| single(is_first(pair, winner, Some(row))?)).collect();
    }
    let flags = flags("clicks", clicks, &[n, width])?;
    let bits = flags.chunks_exact(width).map(bits_of);
    let lengths = match observed {
        None => vec![width; n],
        Some(observed) => {
            refuse_observed(protocol, Some(observed))?;
            let lengths = integers("observed", observed, &[n])?.into_iter().enumerate();
            lengths.map(|(row, observed)| length(observed, width, Some(row))).collect::<PyResult<_>>()?
        }
    };
    let users = bits.zip(lengths).enumerate();
    // Nobody sees more of a short list than there is.
    let shown = |row: usize| filled(&actions[row * width..][..width]).len();
    users.map(|(row, (bits, observed))| list(protocol, bits, observed.min(shown(row)), Some(row))).collect()
}

/// Returns whether the number of observed positions means something under this protocol.
fn refuse_observed(protocol: Protocol, observed: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    match protocol {
        Protocol::SemiBandit | Protocol::Cascade | Protocol::Dcm => Ok(()),
        _ if observed.is_none() => Ok(()),
        _ => Err(value_error(format!(
            "observed is for the models semi-bandit, cascade and dcm: the answer of {protocol} users has none"
        ))),
    }
}

/// Clicks on the observed positions of a list.
fn list(protocol: Protocol, bits: u64, observed: usize, row: Option<usize>) -> PyResult<Clicks> {
    if protocol == Protocol::Cascade && bits.count_ones() > 1 {
        let count = bits.count_ones();
        return Err(value_error(format!(
            "clicks{}: {count} clicks, but cascade users leave at the first; expected at most 1",
            At(row)
        )));
    }
    Clicks::from_bits(bits, observed).map_err(|_| {
        let last = bits.ilog2();
        value_error(format!(
            "clicks{}: a click at position {last} (from 0), but only {observed} positions were observed",
            At(row)
        ))
    })
}

/// One flag as clicks on one position.
fn single(clicked: bool) -> PyResult<Clicks> {
    Clicks::from_bits(u64::from(clicked), 1).map_err(value_error)
}

/// Returns whether the winner is the first item of the pair.
fn is_first(pair: &[u32], winner: i64, row: Option<usize>) -> PyResult<bool> {
    if let Some(place) = pair.iter().position(|&item| i64::from(item) == winner) {
        return Ok(place == 0);
    }
    let [one, other] = [pair[0], pair[1]];
    let items =
        if one == other { format!("{one}, both items") } else { format!("{one} or {other}, an item") };
    Err(value_error(format!("the winner{} is {winner}: expected {items} of the pair", At(row))))
}

fn length(observed: i64, width: usize, row: Option<usize>) -> PyResult<usize> {
    let fits = usize::try_from(observed).ok().filter(|&observed| observed <= width);
    fits.ok_or_else(|| {
        value_error(format!("observed{} is {observed}: expected from 0 to {width} positions", At(row)))
    })
}

/// ` of row 3`, or nothing.
struct At(Option<usize>);

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |row| write!(f, " of row {row}"))
    }
}

/// The clicks on one list as bits, position 0 in the lowest.
fn row_of(clicks: &Bound<'_, PyAny>, width: usize) -> PyResult<u64> {
    // Short lists are not worth an array.
    fn of<'py>(clicks: impl ExactSizeIterator<Item = Bound<'py, PyAny>>, width: usize) -> PyResult<u64> {
        if clicks.len() != width {
            return Err(wrong_shape("clicks", &[clicks.len()], &[width]));
        }
        let mut all = clicks.enumerate();
        all.try_fold(0, |bits, (position, clicked)| Ok(bits | u64::from(flag(&clicked)?) << (position % 64)))
    }
    // `tolist` costs less than reading an array as short as a list.
    let short = clicks.cast::<PyUntypedArray>().ok().filter(|array| array.ndim() == 1);
    let list = short.map(|array| array.call_method0("tolist")).transpose()?;
    if let Ok(list) = list.as_ref().unwrap_or(clicks).cast::<PyList>() {
        return of(list.iter(), width);
    }
    if let Ok(tuple) = clicks.cast::<PyTuple>() {
        return of(tuple.iter(), width);
    }
    flags("clicks", clicks, &[width]).map(|flags| bits_of(&flags))
}

fn bits_of(flags: &[u8]) -> u64 {
    flags.iter().enumerate().fold(0, |bits, (position, &flag)| bits | u64::from(flag) << (position % 64))
}

/// A bool, 0 or 1.
fn flag(clicked: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(clicked) = clicked.cast::<PyBool>() {
        return Ok(clicked.is_true());
    }
    // Before `numpy.bool`, which is known by the name of its type: that costs more than all else.
    if clicked.is_exact_instance_of::<PyInt>()
        && let Ok(number @ (0 | 1)) = clicked.extract::<i64>()
    {
        return Ok(number == 1);
    }
    if let Ok(clicked) = clicked.extract::<bool>() {
        // `numpy.bool`.
        return Ok(clicked);
    }
    if let Ok(number) = clicked.extract::<f64>() {
        return whole_flag(number)
            .ok_or_else(|| value_error(format!("a click is {number}: expected a bool, 0 or 1")));
    }
    match integer("a click", clicked)? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(value_error(format!("a click is {other}: expected a bool, 0 or 1"))),
    }
}

/// 0 or 1 as a floating-point number.
fn whole_flag(number: f64) -> Option<bool> {
    if number == 0.0 || number == 1.0 { Some(number == 1.0) } else { None }
}

/// An integer, of Python or of numpy.
fn integer(name: &str, given: &Bound<'_, PyAny>) -> PyResult<i64> {
    given.extract().map_err(|error: PyErr| {
        let py = given.py();
        if error.is_instance_of::<PyTypeError>(py) {
            let found = given.get_type();
            type_error(format!("{name}: expected an integer, got {found}"))
        } else if error.is_instance_of::<PyOverflowError>(py) {
            value_error(format!("{name} is {given}: expected a small integer"))
        } else {
            error
        }
    })
}

/// An array of zeros and ones.
fn flags(name: &str, given: &Bound<'_, PyAny>, shape: &[usize]) -> PyResult<Vec<u8>> {
    let (array, kind) = array(name, given, shape)?;
    if kind == "b" {
        // As bytes, since a bool that numpy did not make may be any byte.
        let bytes = array.call_method1("view", ("uint8",))?;
        let bytes = bytes.cast::<PyArrayDyn<u8>>()?;
        return Ok(bytes.try_readonly()?.as_array().iter().map(|&byte| u8::from(byte != 0)).collect());
    }
    if kind == "f" {
        let numbers = array.call_method1("astype", ("float64",))?;
        let numbers = numbers.cast::<PyArrayDyn<f64>>()?.try_readonly()?;
        let flag = |(place, &number): (usize, &f64)| {
            let wrong = || value_error(format!("{name}{} is {number}: expected 0 or 1", Place(place, shape)));
            whole_flag(number).map(u8::from).ok_or_else(wrong)
        };
        return numbers.as_array().iter().enumerate().map(flag).collect();
    }
    let flag = |number: i64| u8::try_from(number).ok().filter(|&flag| flag <= 1);
    each(name, &as_integers(name, &array, &kind)?, "0 or 1", flag)
}

fn integers(name: &str, given: &Bound<'_, PyAny>, shape: &[usize]) -> PyResult<Vec<i64>> {
    let (array, kind) = array(name, given, shape)?;
    each(name, &as_integers(name, &array, &kind)?, "an integer", Some)
}

/// The numbers of an array, each as `read` takes it.
fn each<T>(
    name: &str,
    numbers: &Bound<'_, PyArrayDyn<i64>>,
    expected: &str,
    read: impl Fn(i64) -> Option<T>,
) -> PyResult<Vec<T>> {
    let numbers = numbers.try_readonly()?;
    let numbers = numbers.as_array();
    let one = |(place, &number): (usize, &i64)| {
        let place = Place(place, numbers.shape());
        read(number).ok_or_else(|| value_error(format!("{name}{place} is {number}: expected {expected}")))
    };
    numbers.iter().enumerate().map(one).collect()
}

/// A numpy array of this shape, and the kind of its numbers.
fn array<'py>(
    name: &str,
    given: &Bound<'py, PyAny>,
    shape: &[usize],
) -> PyResult<(Bound<'py, PyAny>, String)> {
    let (array, kind) = as_array(name, given)?;
    let found: Vec<usize> = array.getattr("shape")?.extract()?;
    if found != shape {
        return Err(wrong_shape(name, &found, shape));
    }
    // An empty list has no numbers to tell their type.
    let kind = if found.contains(&0) { "i".to_owned() } else { kind };
    Ok((array, kind))
}

/// A copy as aligned 64-bit integers; unsigned numbers above their range become negative, and are
/// refused as such.
fn as_integers<'py>(
    name: &str,
    array: &Bound<'py, PyAny>,
    kind: &str,
) -> PyResult<Bound<'py, PyArrayDyn<i64>>> {
    if !matches!(kind, "i" | "u") {
        let found = array.getattr("dtype")?;
        return Err(type_error(format!("{name}: expected an array of bool or of integers, got {found}")));
    }
    Ok(array.call_method1("astype", ("int64",))?.cast_into::<PyArrayDyn<i64>>()?)
}

/// Counts, none of them negative, and the shape of their array.
pub(crate) fn counts(name: &str, given: &Bound<'_, PyAny>) -> PyResult<(Vec<u64>, Vec<usize>)> {
    let (array, kind) = as_array(name, given)?;
    let numbers = as_integers(name, &array, &kind)?;
    let counts = each(name, &numbers, "counts from 0 to 2^63 - 1", |number: i64| u64::try_from(number).ok())?;
    Ok((counts, numbers.shape().to_vec()))
}

/// Actions: an array of numbers, one row for each action, and whether it was a single action.
pub(crate) fn actions(name: &str, given: &Bound<'_, PyAny>, width: usize) -> PyResult<(Vec<u32>, bool)> {
    let (array, kind) = as_array(name, given)?;
    let numbers = as_integers(name, &array, &kind)?;
    let single = match *numbers.shape() {
        [found] if found == width => true,
        [_, found] if found == width => false,
        ref found => {
            return Err(value_error(format!(
                "{name}: expected shape ({width},) or (n, {width}), got {found:?}"
            )));
        }
    };
    let number = |number: i64| u32::try_from(number).ok();
    Ok((each(name, &numbers, "numbers from 0 to 2^32 - 1", number)?, single))
}
