//! SHA-256 in the hexadecimal form that files use.

use crate::regular::open_regular;
use itertools::Itertools as _;
use sha2::{Digest, Sha256};
use std::io::{self, Read};
use std::path::Path;

/// Bytes that are read at once.
const BLOCK: usize = 1 << 18;

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
    Ok(sha256_of_stream(&mut open_regular(path)?, &mut |_| Ok(()))?.0)
}

/// SHA-256 in hexadecimal and the number of bytes of a stream. `also` gets every block of it.
///
/// # Errors
///
/// Those of the stream and of `also`.
pub fn sha256_of_stream(
    from: &mut dyn Read,
    also: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<(String, u64)> {
    let (mut hasher, mut bytes) = (Sha256::new(), 0);
    let mut block = vec![0; BLOCK];
    loop {
        let len = match from.read(&mut block) {
            Ok(0) => return Ok((hexadecimal(&hasher.finalize()), bytes)),
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(&block[..len]);
        also(&block[..len])?;
        bytes += len as u64;
    }
}

/// Bytes as two lower-case hexadecimal digits each.
fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().format_with("", |byte, write| write(&format_args!("{byte:02x}"))).to_string()
}
