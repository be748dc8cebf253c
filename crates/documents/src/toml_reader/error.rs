//! Errors in a file, and their places.

use itertools::Itertools as _;
use std::fmt::{self, Write as _};

crate::debug_is_display!(Error);

/// An error in a file, displayed as `FILE:LINE:COLUMN: FIELD: what is wrong`. Errors found with it
/// are not displayed ([`Error::all`]).
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    location: Location,
    message: String,
    /// Errors that were found with this one, in the order in which they were found.
    also: Vec<Error>,
}

impl Error {
    /// An error about a file as a whole.
    pub fn whole_file(file: &str, message: impl Into<String>) -> Self {
        let location = Location { file: file.to_owned(), line: 0, column: 0, field: String::new() };
        Self { location, message: message.into(), also: Vec::new() }
    }

    /// Returns whether the error is about the file as a whole.
    pub fn is_about_whole_file(&self) -> bool {
        self.location.line == 0 && self.location.field.is_empty()
    }

    /// The most errors that are kept; those found later are dropped.
    pub const MOST: usize = 1000;

    /// This error, and with it another one that was found later.
    #[must_use]
    pub fn and(mut self, mut later: Self) -> Self {
        let further = std::mem::take(&mut later.also);
        self.also.extend(std::iter::once(later).chain(further));
        self.also.truncate(Self::MOST - 1);
        self
    }

    /// The number of errors: this one and those found with it.
    pub fn count(&self) -> usize {
        1 + self.also.len()
    }

    /// This error and those found with it, in the order of the file, each once. Errors of several
    /// files are in the order in which they were found, file by file.
    pub fn all(mut self) -> Vec<Self> {
        let mut all = std::mem::take(&mut self.also);
        all.insert(0, self);
        let files: Vec<String> = all.iter().map(|error| error.location.file.clone()).unique().collect();
        let file = |error: &Self| files.iter().position(|file| *file == error.location.file);
        all.sort_by_cached_key(|error| (file(error), error.location.line, error.location.column));
        let mut kept: Vec<Self> = Vec::with_capacity(all.len());
        for error in all {
            let same_place = |other: &&Self| other.location == error.location;
            if !kept.iter().rev().take_while(same_place).any(|other| other.message == error.message) {
                kept.push(error);
            }
        }
        kept
    }

    /// The file's name, as it was given.
    pub fn file(&self) -> &str {
        &self.location.file
    }

    /// 1-based line, unless the error is about the file as a whole.
    pub fn line(&self) -> Option<usize> {
        (self.location.line > 0).then_some(self.location.line)
    }

    /// 1-based column in characters, unless the error is about the file as a whole.
    pub fn column(&self) -> Option<usize> {
        (self.location.line > 0).then_some(self.location.column)
    }

    /// The path of the key at fault, such as `instances[0].theta[2]`; empty without a key.
    pub fn field(&self) -> &str {
        &self.location.field
    }

    /// The message without the place.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Location { file, line, column, field } = &self.location;
        write!(formatter, "{file}:")?;
        if *line > 0 {
            write!(formatter, "{line}:{column}:")?;
        }
        if !field.is_empty() {
            write!(formatter, " {field}:")?;
        }
        write!(formatter, " {}", self.message)
    }
}

impl std::error::Error for Error {}

/// A place in a file. A caller keeps it for errors that are found later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    file: String,
    /// 1-based; 0 for the file as a whole, and where there are no lines.
    line: usize,
    /// 1-based, in characters.
    column: usize,
    field: String,
}

impl Location {
    /// The place at a 1-based line and column; line 0 means the file as a whole.
    pub fn new(file: &str, line: usize, column: usize, field: &str) -> Self {
        Self { file: file.to_owned(), line, column, field: shortened(field, MAX_FIELD) }
    }

    /// The place of the byte `offset` of `text`.
    pub fn of_text(file: &str, text: &str, offset: usize, field: &str) -> Self {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = 1 + before.matches('\n').count();
        Self::new(file, line, 1 + before[line_start..].chars().count(), field)
    }

    /// The place of the byte `offset` of a file that is not valid text. The bytes before it are.
    pub fn of_bytes(file: &str, bytes: &[u8], offset: usize) -> Self {
        let before = String::from_utf8_lossy(&bytes[..offset]);
        Self::of_text(file, &before, before.len(), "")
    }

    /// The place in the words of a message about another one: the line, or the key where there are
    /// no lines.
    pub fn words(&self) -> String {
        if self.line > 0 { format!("line {}", self.line) } else { self.field.clone() }
    }

    /// An error at this place.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error {
            location: self.clone(),
            message: shortened(&with_short_numbers(&message.into()), MAX_MESSAGE),
            also: Vec::new(),
        }
    }
}

/// The maximal number of characters of a field in a message.
const MAX_FIELD: usize = 200;
/// The maximal number of characters of a message.
const MAX_MESSAGE: usize = 1000;

/// The maximal number of digits of a number in a message.
const MAX_DIGITS: usize = 40;

/// A text in which a number with very many digits is replaced by its first digits and their count.
pub fn with_short_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let end =
            rest[start..].find(|letter: char| !letter.is_ascii_digit()).map_or(rest.len(), |len| start + len);
        let digits = &rest[start..end];
        out.push_str(&rest[..start]);
        if digits.len() > MAX_DIGITS {
            let _ = write!(out, "{}... ({} digits)", &digits[..MAX_DIGITS / 2], digits.len());
        } else {
            out.push_str(digits);
        }
        rest = &rest[end..];
    }
    out + rest
}

/// The first `length` characters of a text, so that a message does not quote a megabyte.
fn shortened(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
