//! Files that an input names, and what is at the edges of their texts.

use crate::hash::sha256;
use std::ffi::OsStr;
use std::path::Path;

/// A file that was read whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile {
    /// Its path as it was given.
    pub name: String,
    /// SHA-256 of its content, in hexadecimal.
    pub sha256: String,
    /// Its content.
    pub content: Vec<u8>,
}

impl InputFile {
    /// A file of this name and content.
    pub fn new(name: impl Into<String>, content: Vec<u8>) -> Self {
        Self { name: name.into(), sha256: sha256(&content), content }
    }

    /// Its name without its folder.
    pub fn file_name(&self) -> &str {
        Path::new(&self.name).file_name().and_then(OsStr::to_str).unwrap_or_default()
    }
}

/// The byte order mark of UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The content of a file after its byte order mark, if it has one.
pub fn without_byte_order_mark(content: &[u8]) -> &[u8] {
    content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(content)
}

/// The name in a cell of a CSV file, below this head of its column. Spaces around names are part of
/// them, as in logs; but if the head has spaces before it, they belong to the separators.
pub fn named_cell<'a>(head: &str, cell: &'a str) -> &'a str {
    if head.starts_with(' ') { cell.trim_start_matches(' ') } else { cell }
}
