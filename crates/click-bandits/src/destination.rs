//! Where a command writes its one document: a file of its own, or standard output.

use crate::terminal::written;
use anyhow::{Context as _, Result, bail};
use documents::{TemporaryFile, read_own, remove_left_overs};
use experiment::manifest;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(crate) enum Destination {
    Standard,
    File(PathBuf),
}

impl Destination {
    /// Standard output without a name or with the name `-`. A file that exists is refused without
    /// `force`; a file of a result, a device, a pipe and a link always.
    pub(crate) fn of(out: Option<&Path>, force: bool) -> Result<Self> {
        let Some(path) = out.filter(|path| path.as_os_str() != "-") else { return Ok(Self::Standard) };
        let Ok(found) = fs::symlink_metadata(path) else { return Ok(Self::File(path.to_owned())) };
        if found.is_dir() {
            bail!("{}: is a directory: give --out the name of a file", path.display());
        }
        // The new file would replace a device, a pipe or a link.
        if !found.is_file() {
            bail!(
                "{}: is not a regular file: give another --out, or write to standard output",
                path.display()
            );
        }
        if is_of_result(path) {
            bail!("{}: is a file of a result: give another --out", path.display());
        }
        if !force {
            bail!("{}: exists already: give another --out, or --force to replace it", path.display());
        }
        Ok(Self::File(path.to_owned()))
    }

    /// Writes a document: a file whole or not at all, a pipe as far as its reader takes it.
    pub(crate) fn write(&self, write: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>) -> Result<()> {
        match self {
            Self::Standard => {
                let mut output = Pipe(BufWriter::new(io::stdout()));
                write(&mut output).and_then(|()| Ok(output.flush()?))
            }
            Self::File(path) => {
                let cannot = || format!("{}: cannot be written", path.display());
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                remove_left_overs(folder.unwrap_or(Path::new(".")));
                let file = TemporaryFile::write_with(path, |file| -> Result<()> {
                    let mut buffer = BufWriter::new(file);
                    write(&mut buffer)?;
                    Ok(buffer.flush()?)
                });
                file.with_context(cannot)?.rename().with_context(cannot)
            }
        }
    }
}

/// Returns whether the manifest beside a file lists it, or is the file.
fn is_of_result(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let manifest = path.with_file_name("manifest.json");
    let owner = read_own(&manifest).ok().and_then(|bytes| manifest::Owner::read(&bytes));
    owner.is_some_and(|owner| name == "manifest.json" || owner.files.iter().any(|file| *file == name))
}

/// Standard output, whose errors say so.
struct Pipe<W>(W);

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        written(self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        written(self.0.flush())
    }
}
