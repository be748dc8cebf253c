//! Errors in a file, with their place.

use documents::toml_reader::{Error, Location};

/// A line of a file, to construct errors with their place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'line> {
    pub(super) file: &'line str,
    /// 1-based.
    pub(super) line: usize,
    pub(super) text: &'line [u8],
}

impl Place<'_> {
    /// 1-based column of the byte at `offset`, in characters.
    pub(super) fn column(self, offset: usize) -> usize {
        1 + String::from_utf8_lossy(&self.text[..offset]).chars().count()
    }

    pub(super) fn error(self, column: usize, message: String) -> Error {
        Location::new(self.file, self.line, column, "").error(message)
    }

    pub(super) fn error_at(self, offset: usize, message: String) -> Error {
        self.error(self.column(offset), message)
    }
}

/// The faulty text in quotes, cut if it is long: a damaged file may have a megabyte without a
/// space.
pub(super) fn quoted(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}
