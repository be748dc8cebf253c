//! A preference matrix that was read from a file.

use click_models::PreferenceMatrix;
use documents::toml_reader::{Error, Location, read_file};
use documents::{sha256, unpack};
use std::path::Path;
use std::sync::Arc;

/// A preference matrix that was read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixFile {
    /// The path of the file as it was given.
    file: String,
    /// SHA-256 of the file's content, in hexadecimal.
    pub sha256: String,
    /// The matrix.
    pub matrix: Arc<PreferenceMatrix>,
}

impl MatrixFile {
    /// The expected kind of file, for messages.
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
        let bytes = unpack(content).map_err(|error| Error::whole_file(&file, format!("gzip: {error}")))?;
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
            let message = format!("byte 0x{byte:02x} is not UTF-8: save the file as UTF-8 text");
            Location::of_bytes(&file, &bytes, error.valid_up_to()).error(message)
        })?;
        let matrix = PreferenceMatrix::parse(text, &file)
            .map_err(|error| Location::new(&file, error.line, error.column, "").error(error.message))?;
        Ok(Self { file, sha256, matrix: Arc::new(matrix) })
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
