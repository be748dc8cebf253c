//! Reads LETOR files, the svmlight format with queries: one query at a time, plain or gzip, with
//! errors that name their place.
//!
//! A file has one document per line, and the documents of a query are adjacent:
//!
//! ```text
//! LABEL qid:QUERY INDEX:VALUE INDEX:VALUE ... # COMMENT
//! ```
//!
//! `LABEL` is a grade of relevance, a whole number from 0 to 255. `QUERY` is any name without
//! spaces. `INDEX` counts from 1 and rises along the line. `VALUE` is a finite number; the
//! largest one may be written with fewer digits, rounded up (`1.79769313486232e+308`). A feature
//! that is not listed is 0.
//!
//! Reference: the formats of `SVMlight` (Joachims 1999) and of LETOR 3.0 and 4.0 (Liu, Xu, Qin,
//! Xiong, Li 2007; Qin, Liu 2013).
//!
//! Deviations: stricter than `SVMlight`, which accepts any number as a label and does not require
//! `qid`. Accepted are: spaces or tabs between fields, lines that end in CR LF, a byte order mark,
//! empty lines and lines with only a comment, comments that are not UTF-8, a last line without a
//! line end, several gzip members in a row, and zero bytes after a member. Rejected, with file,
//! line and column, are: a query that reappears after another one (LETOR files are sorted; a file
//! that is not was assembled wrongly), an index that does not rise or is above 4,096, `NULL` (LETOR
//! 4.0 has versions of its files with and without missing values), NaN and infinities, a line above
//! 1 MiB, a file without documents, and a truncated or damaged gzip stream.
//!
//! Numerics: values are read as the nearest `f64`. Complexity: linear; memory for one query at a
//! time, 16 bytes per listed feature.
//!
//! # Examples
//!
//! ```
//! use interleaving::letor::Reader;
//!
//! let text = "2 qid:10 1:0.5 3:-2 # a comment\n0 qid:10 2:1e-3\n1 qid:11 1:7\n";
//! let queries: Vec<_> = Reader::new("example.txt", text.as_bytes()).collect::<Result<_, _>>()?;
//! assert_eq!((queries.len(), queries[0].labels()), (2, &[2, 0][..]));
//! assert_eq!((queries[0].feature(0, 2), queries[0].feature(1, 2)), (-2.0, 0.0));
//!
//! let error = Reader::new("wrong.txt", "1 qid:3 1:0.5 2:high\n".as_bytes()).next().unwrap().unwrap_err();
//! assert_eq!(error.to_string(), "wrong.txt:1:17: \"high\" is not a number: expected the value of feature 2");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
#[cfg(test)]
mod tests;

use crate::Query;
use documents::toml_reader::Error;
use documents::{BYTE_ORDER_MARK, Decompressor, open_regular};
use error::Place;
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

/// The largest number of features.
pub const MAX_FEATURES: usize = 4096;

/// The longest line, in bytes.
const MAX_LINE: usize = 1 << 20;

/// Reads all queries of a file.
///
/// # Errors
///
/// If the file cannot be read; otherwise the first error in it.
pub fn read_file(path: &Path) -> Result<Vec<Query>, Error> {
    let name = path.display().to_string();
    match open_regular(path) {
        Ok(file) => Reader::new(name, file).collect(),
        Err(error) => Err(Error::whole_file(&name, format!("cannot be read: {error}"))),
    }
}

/// Iterates over the queries of a file. It ends after the first error, if there is one.
#[derive(Debug)]
pub struct Reader<R> {
    file: String,
    /// An error if its first bytes cannot be read.
    input: io::Result<BufReader<Decompressor<R>>>,
    line: Vec<u8>,
    /// 1-based number of `line`.
    number: usize,
    /// The query whose documents are being read.
    current: Option<Query>,
    /// First and last line of every query so far.
    seen: BTreeMap<String, (usize, usize)>,
    row: Vec<(u32, f64)>,
    done: bool,
}

impl<R: Read> Reader<R> {
    /// Reads from `input`; errors name it `file`. Gzip is recognised by its first bytes.
    pub fn new(file: impl Into<String>, input: R) -> Self {
        Self {
            file: file.into(),
            input: Decompressor::new(input).map(|input| BufReader::with_capacity(1 << 16, input)),
            line: Vec::new(),
            number: 0,
            current: None,
            seen: BTreeMap::new(),
            row: Vec::new(),
            done: false,
        }
    }

    /// Reads up to the end of the current query; `None` at the end of the file.
    fn next_query(&mut self) -> Result<Option<Query>, Error> {
        while self.next_line()? {
            let place = Place { file: &self.file, line: self.number, text: &self.line };
            let Some(document) = parse(place, &mut self.row)? else { continue };
            let Document { label, query, column } = document;
            let features = self.row.iter().copied();
            let refused = |error: crate::Error| place.error(1, error.to_string());
            if let Some(current) = &mut self.current
                && current.id() == query
            {
                current.push(label, features).map_err(refused)?;
                if let Some((_, last)) = self.seen.get_mut(query) {
                    *last = self.number;
                }
                continue;
            }
            if let Some((first, last)) = self.seen.get(query) {
                let message = format!(
                    "query {} comes again after another one: its documents were on lines {first} to {last}",
                    error::quoted(query)
                );
                return Err(place.error(column, message));
            }
            let mut next = Query::named(query.to_owned());
            next.push(label, features).map_err(refused)?;
            self.seen.insert(query.to_owned(), (self.number, self.number));
            if let Some(complete) = self.current.replace(next) {
                return Ok(Some(complete));
            }
        }
        if self.seen.is_empty() {
            let message = "no documents: expected lines as in \"1 qid:10 1:0.5 2:3\"";
            return Err(Error::whole_file(&self.file, message));
        }
        Ok(self.current.take())
    }

    fn place(&self) -> Place<'_> {
        Place { file: &self.file, line: self.number, text: &self.line }
    }

    /// Reads a line without its end; `false` at the end of the file.
    fn next_line(&mut self) -> Result<bool, Error> {
        self.line.clear();
        self.number += 1;
        let unread = match &mut self.input {
            Err(error) => Some(format!("cannot be read: {error}")),
            Ok(input) => {
                let is_gzip = input.get_ref().is_gzip();
                // One byte more than allowed, to detect a line that is too long.
                let read = input.take(MAX_LINE as u64 + 2).read_until(b'\n', &mut self.line);
                let trouble = if is_gzip { "damaged gzip" } else { "cannot be read" };
                read.err().map(|error| format!("{trouble}: {error}"))
            }
        };
        if let Some(message) = unread {
            return Err(self.place().error(self.line.len() + 1, message));
        }
        if self.line.is_empty() {
            return Ok(false);
        }
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
        }
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        if self.line.len() > MAX_LINE {
            let message = "a line above 1 MiB: expected one document a line".to_owned();
            return Err(self.place().error(MAX_LINE + 1, message));
        }
        if self.number == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
            self.line.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(true)
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Query, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let next = self.next_query().transpose();
        self.done = !matches!(next, Some(Ok(_)));
        next
    }
}

/// The content of a line, except its features.
struct Document<'line> {
    label: u8,
    query: &'line str,
    /// Offset of the query's name.
    column: usize,
}

/// Reads a line; `None` if there is no document on it.
fn parse<'line>(place: Place<'line>, row: &mut Vec<(u32, f64)>) -> Result<Option<Document<'line>>, Error> {
    row.clear();
    let end = place.text.iter().position(|&byte| byte == b'#').unwrap_or(place.text.len());
    let mut fields = Fields { place, end, at: 0 };
    let Some((offset, label)) = fields.next_field()? else { return Ok(None) };
    let Ok(label) = label.parse::<u8>() else {
        let message = format!(
            "{} is not a label: expected a grade of relevance, a whole number from 0 to 255",
            error::quoted(label)
        );
        return Err(place.error_at(offset, message));
    };

    let expected = "expected qid: and the name of the query after the label, as in qid:10";
    let Some((offset, field)) = fields.next_field()? else {
        return Err(place.error_at(end, format!("the line ends after its label: {expected}")));
    };
    let query = match field.strip_prefix("qid:") {
        Some(query) if !query.is_empty() && !query.contains(char::is_whitespace) => query,
        _ => {
            let message = format!("{} names no query: {expected}", error::quoted(field));
            return Err(place.error_at(offset, message));
        }
    };
    let column = place.column(offset + "qid:".len());

    let mut above = 0;
    while let Some((offset, field)) = fields.next_field()? {
        let Some((index, value)) = field.split_once(':') else {
            let message =
                format!("{} is not a feature: expected INDEX:VALUE, as in 3:0.25", error::quoted(field));
            return Err(place.error_at(offset, message));
        };
        let feature = match index.parse::<u32>() {
            Ok(feature) if 0 < feature && feature as usize <= MAX_FEATURES => feature,
            _ => {
                let quoted = error::quoted(index);
                let message =
                    format!("{quoted} is not a feature: expected a whole number from 1 to {MAX_FEATURES}");
                return Err(place.error_at(offset, message));
            }
        };
        if feature <= above {
            let trouble = if feature == above { "twice" } else { "out of order" };
            let message =
                format!("feature {feature} {trouble}, after feature {above}: expected them to rise");
            return Err(place.error_at(offset, message));
        }
        above = feature;
        let trouble = match value.parse::<f64>() {
            Ok(number) => {
                match Some(number).filter(|number| number.is_finite()).or_else(|| rounded_up(value)) {
                    Some(number) => {
                        row.push((feature - 1, number));
                        continue;
                    }
                    None => "is not a finite number",
                }
            }
            Err(_) => "is not a number",
        };
        let message = format!("{} {trouble}: expected the value of feature {feature}", error::quoted(value));
        return Err(place.error_at(offset + index.len() + 1, message));
    }
    Ok(Some(Document { label, query, column }))
}

/// The largest number with this sign, if the text is that number with fewer digits, rounded up:
/// .NET writes it as `1.79769313486232E+308`, which stands for a missing value in some files.
fn rounded_up(text: &str) -> Option<f64> {
    let (digits, exponent) = text.split_once(['e', 'E'])?;
    let tenth: f64 = format!("{digits}e{}", exponent.parse::<i32>().ok()?.checked_sub(1)?).parse().ok()?;
    (tenth.abs() <= 1.8e307).then_some(f64::MAX.copysign(tenth))
}

/// The fields of a line before its comment.
struct Fields<'line> {
    place: Place<'line>,
    end: usize,
    at: usize,
}

impl<'line> Fields<'line> {
    /// The next field and its byte offset.
    fn next_field(&mut self) -> Result<Option<(usize, &'line str)>, Error> {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let rest = &self.place.text[self.at..self.end];
        let Some(skipped) = rest.iter().position(|byte| !blank(byte)) else { return Ok(None) };
        let rest = &rest[skipped..];
        let field = &rest[..rest.iter().position(blank).unwrap_or(rest.len())];
        let start = self.at + skipped;
        self.at = start + field.len();
        match std::str::from_utf8(field) {
            Ok(field) => Ok(Some((start, field))),
            Err(error) => {
                let at = start + error.valid_up_to();
                let byte = self.place.text[at];
                let message = format!("byte 0x{byte:02x} is not UTF-8: only comments may hold any bytes");
                Err(self.place.error_at(at, message))
            }
        }
    }
}

/// Writes queries in the format that [`Reader`] reads: every feature that a document lists, in the
/// shortest form that is read back as the same number.
///
/// # Errors
///
/// If `output` cannot be written.
pub fn write(queries: &[Query], output: &mut impl Write) -> io::Result<()> {
    for query in queries {
        for (document, label) in query.labels().iter().enumerate() {
            write!(output, "{label} qid:{}", query.id())?;
            for (feature, value) in query.mentioned(document) {
                write!(output, " {}:{value}", feature + 1)?;
            }
            writeln!(output)?;
        }
    }
    Ok(())
}
