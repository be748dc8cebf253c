//! SHA-256 in the hexadecimal form that files use.

use sha2::{Digest, Sha256};

/// SHA-256 of bytes, in hexadecimal.
pub fn sha256(content: &[u8]) -> String {
    hexadecimal(&Sha256::digest(content))
}

/// Bytes as two lower-case hexadecimal digits each.
pub fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
