//! A `Fitted` as bytes, for pickle: all of it. A checksum tells damage, since nothing checks what
//! its parts mean to each other.

use crate::message::value_error;
use documents::sha256;
use pyo3::PyResult;
use serde::{Serialize, de::DeserializeOwned};

/// The version of the bytes: another one if a type of fits, counts or sessions changes.
const FORMAT: u32 = 5;

pub(super) fn to_bytes(state: &impl Serialize) -> PyResult<Vec<u8>> {
    let state = postcard::to_allocvec(state).map_err(value_error)?;
    postcard::to_allocvec(&(FORMAT, sha256(&state), state)).map_err(value_error)
}

pub(super) fn of_bytes<T: DeserializeOwned>(bytes: &[u8]) -> PyResult<T> {
    let fault = |why: &str| value_error(format!("this is no pickled Fitted of this version: {why}"));
    let damaged = |_| fault("it is damaged");
    let (format, rest) = postcard::take_from_bytes::<u32>(bytes).map_err(damaged)?;
    if format != FORMAT {
        return Err(fault(&format!("its format is {format}, expected {FORMAT}; fit the log again")));
    }
    let (checksum, state) = postcard::from_bytes::<(&str, &[u8])>(rest).map_err(damaged)?;
    if sha256(state) != checksum {
        return Err(fault("it is damaged"));
    }
    postcard::from_bytes(state).map_err(damaged)
}
