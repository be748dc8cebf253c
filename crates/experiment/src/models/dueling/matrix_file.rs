//! A preference matrix that was read from a file.

use crate::hash::sha256;
use crate::toml_reader::{Error, Location, read_file};
use click_models::PreferenceMatrix;
use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The first bytes of a file compressed with gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A preference matrix that was read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixFile {
    /// The path of the file as it was given.
    file: String,
    /// SHA-256 of its content, in hexadecimal.
    sha256: String,
    pub(super) matrix: Arc<PreferenceMatrix>,
}

impl MatrixFile {
    /// What the file is, for messages.
    pub(super) const EXPECTED: &str = "a preference matrix as text";

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a preference matrix.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = read_file(path, Self::EXPECTED)?;
        Self::of(path, &bytes)
    }

    /// Reads the content of a file with this path: text, which may be compressed with gzip.
    ///
    /// # Errors
    ///
    /// The content is not a preference matrix.
    pub fn of(path: &Path, content: &[u8]) -> Result<Self, Error> {
        let file = path.display().to_string();
        let sha256 = sha256(content);
        let bytes = unpacked(content).map_err(|error| Error::whole_file(&file, format!("gzip: {error}")))?;
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
            let message = format!("byte 0x{byte:02x} is not UTF-8: save the file as UTF-8 text");
            Location::of_bytes(&file, &bytes, error.valid_up_to()).error(message)
        })?;
        let matrix = PreferenceMatrix::parse(text, &file).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let whole = error.to_string();
            // The location gives the place, so it is removed from the message.
            let message = whole.strip_prefix(&format!("{file}:{line}:{column}: ")).unwrap_or(&whole);
            Location::new(&file, line, column, "").error(message)
        })?;
        Ok(Self { file, sha256, matrix: Arc::new(matrix) })
    }

    /// The matrix.
    pub fn matrix(&self) -> &PreferenceMatrix {
        &self.matrix
    }

    /// SHA-256 of the file's content, in hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The name of the file without its folder.
    pub fn name(&self) -> String {
        Path::new(&self.file).file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// A description for readers: the number of items, the file and its SHA-256.
    pub fn label(&self) -> String {
        let n_items = self.matrix.shape().n_items();
        format!("Preferences among {n_items} items, of {} (SHA-256 {}).", self.name(), self.sha256)
    }
}

/// The text of a file, unpacked if it is compressed.
fn unpacked(content: &[u8]) -> io::Result<Cow<'_, [u8]>> {
    if !content.starts_with(&GZIP) {
        return Ok(Cow::Borrowed(content));
    }
    unpack(content).map(Cow::Owned)
}

#[cfg(feature = "gzip")]
fn unpack(content: &[u8]) -> io::Result<Vec<u8>> {
    use crate::toml_reader::MAX_BYTES;
    use io::Read as _;

    let (mut text, mut rest) = (Vec::new(), content);
    while !rest.is_empty() {
        let left = MAX_BYTES + 1 - text.len() as u64;
        flate2::bufread::GzDecoder::new(&mut rest).take(left).read_to_end(&mut text)?;
        if text.len() as u64 > MAX_BYTES {
            return Err(io::Error::other("more than 64 MiB of text"));
        }
        // Zero bytes after a member are padding.
        rest = &rest[rest.iter().take_while(|&&byte| byte == 0).count()..];
    }
    Ok(text)
}

#[cfg(not(feature = "gzip"))]
fn unpack(_: &[u8]) -> io::Result<Vec<u8>> {
    Err(io::Error::other(
        "this program was built without reading compressed files: expected text, or a program with the feature `logs`",
    ))
}

#[cfg(all(test, feature = "gzip"))]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn packed(text: &[u8], times: usize) -> Vec<u8> {
        let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        (0..times).for_each(|_| member.write_all(text).unwrap());
        member.finish().unwrap()
    }

    /// Members, zero bytes between and after them, and no more text than a file may have.
    #[test]
    fn members_are_unpacked_within_the_limit_of_a_file() {
        let of =
            |content: &[u8]| MatrixFile::of(Path::new("m.gz"), content).map_err(|error| error.to_string());
        let padded = [packed(b"0.5,0.6\n", 1), vec![0; 512], packed(b"0.4,0.5\n", 1), vec![0; 7]].concat();
        assert_eq!(of(&padded).map(|file| file.matrix().shape().n_items()), Ok(2));
        assert!(of(&[&padded[..], b"x"].concat()).is_err_and(|error| error.starts_with("m.gz: gzip: ")));
        let half = packed(&vec![b'x'; 1 << 20], 33);
        let error = "m.gz: gzip: more than 64 MiB of text";
        assert_eq!(of(&[&half[..], &half].concat()).map(|_| ()), Err(error.to_owned()));
    }
}
