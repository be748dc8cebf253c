//! A file that an input names.

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
