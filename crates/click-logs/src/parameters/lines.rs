//! JSON with a line for each element of a list: an item of a query is a line.

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};

pub(super) fn write(value: &impl Serialize, out: &mut dyn Write) -> serde_json::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *out, Lines))?;
    out.write_all(b"\n").map_err(serde_json::Error::io)
}

struct Lines;

impl Formatter for Lines {
    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        out.write_all(if first { b"\n" } else { b",\n" })
    }
}
