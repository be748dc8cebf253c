//! SHA-256 in the hexadecimal form that files use.

use crate::regular::open_regular;
use sha2::{Digest, Sha256};
use std::io;
use std::path::Path;

/// SHA-256 of bytes, in hexadecimal.
pub fn sha256(content: &[u8]) -> String {
    hexadecimal(&Sha256::digest(content))
}

/// SHA-256 of a file, in hexadecimal.
///
/// # Errors
///
/// Those of [`open_regular`]; an error of the system.
pub fn sha256_of_file(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut open_regular(path)?, &mut hasher)?;
    Ok(hexadecimal(&hasher.finalize()))
}

/// Bytes as two lower-case hexadecimal digits each.
pub fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
