//! The input files of a fit, with SHA-256, which is part of the fit's identity.
//!
//! A file is hashed before it is read; size and time of change are checked afterwards. Standard
//! input and pipes are hashed while they are copied into a temporary file without a name, which
//! disappears with the process.

use crate::progress::Progress;
use anyhow::{Context as _, Result, bail};
use documents::{is_device, named_twice, sha256_of_stream};
use log_reader::Input;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{Read, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// All input files, in order.
#[derive(Debug)]
pub(crate) struct Inputs(Vec<InputFile>);

#[derive(Debug)]
struct InputFile {
    path: PathBuf,
    /// A copy, if the input can be read only once.
    copy: Option<File>,
    bytes: u64,
    /// In hexadecimal.
    sha256: String,
    /// The file's time of change when it was hashed.
    modified: Option<SystemTime>,
}

const MEGABYTE: u64 = 1_000_000;

impl Inputs {
    /// Hashes files, and copies those that can be read only once. `tell` gets notes for the user.
    pub(crate) fn open(paths: Vec<PathBuf>, quiet: bool, tell: &dyn Fn(&str)) -> Result<Self> {
        if let Some([first, path]) = named_twice(&paths).map(|twice| twice.map(Path::display)) {
            bail!("{first} and {path}: the same file twice: everything in it would be counted twice");
        }
        let size = |path: &PathBuf| fs::metadata(path).map_or(0, |metadata| metadata.len());
        let bytes: u64 = paths.iter().map(size).sum();
        let progress = Progress::start("hashing", bytes.div_ceil(MEGABYTE), "MB", quiet);
        let open = |path| InputFile::open(path, &progress, tell);
        let files = paths.into_iter().map(open).collect::<Result<Vec<_>>>()?;
        for (place, file) in files.iter().enumerate().filter(|(_, file)| file.bytes > 0) {
            if let Some(same) = files[..place].iter().find(|other| other.sha256 == file.sha256) {
                let (same, file) = (same.path.display(), file.path.display());
                tell(&format!(
                    "Note: {same} and {file} have the same content: everything in it is counted twice"
                ));
            }
        }
        Ok(Self(files))
    }

    /// Opens all files for a reader. `watch` gets the number of bytes of each read.
    pub(crate) fn read<'a>(&'a self, watch: &'a (dyn Fn(u64) + Sync)) -> Result<Vec<Input<'a>>> {
        let input = |file: &'a InputFile| {
            let input = match &file.copy {
                None => Input::file(&file.path).map_err(|error| anyhow::anyhow!(error.to_string()))?,
                Some(copy) => {
                    let mut copy = copy;
                    copy.rewind().with_context(|| name(&file.path))?;
                    Input::stream(&name(&file.path), copy)
                }
            };
            Ok(input.watched(watch))
        };
        self.0.iter().map(input).collect()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.0.iter().map(|file| file.bytes).sum()
    }

    /// Name, size and digest of each file.
    pub(crate) fn settings(&self) -> Value {
        let of_file = |file: &InputFile| json!({ "name": file.path.display().to_string(), "bytes": file.bytes, "sha256": file.sha256 });
        self.0.iter().map(of_file).collect()
    }

    /// Checks that no file has changed since it was hashed.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        for file in self.0.iter().filter(|file| file.copy.is_none()) {
            let unchanged = fs::metadata(&file.path)
                .is_ok_and(|now| now.len() == file.bytes && now.modified().ok() == file.modified);
            if !unchanged {
                bail!("{}: changed while it was read: give a copy of it", file.path.display());
            }
        }
        Ok(())
    }
}

impl InputFile {
    fn open(path: PathBuf, progress: &Progress, tell: &dyn Fn(&str)) -> Result<Self> {
        if is_standard_input(&path) {
            return Self::copied(path, &mut std::io::stdin().lock(), tell);
        }
        let mut file = File::open(&path).with_context(|| name(&path))?;
        let metadata = file.metadata().with_context(|| name(&path))?;
        if metadata.is_dir() {
            bail!("{}: a directory: name the files in it", path.display());
        }
        if is_device(&metadata) {
            bail!("{}: a device: expected a file, a pipe or `-`", path.display());
        }
        if !metadata.is_file() {
            return Self::copied(path, &mut file, tell);
        }
        let mut done = 0;
        let (sha256, bytes) = sha256_of_stream(&mut file, &mut |block| {
            let before = done / MEGABYTE;
            done += block.len() as u64;
            progress.add(done / MEGABYTE - before);
            Ok(())
        })
        .with_context(|| name(&path))?;
        Ok(Self { path, copy: None, bytes, sha256, modified: metadata.modified().ok() })
    }

    fn copied(path: PathBuf, from: &mut dyn Read, tell: &dyn Fn(&str)) -> Result<Self> {
        let place = std::env::temp_dir();
        let keep = || format!("{}: a copy cannot be kept in {}", name(&path), place.display());
        let mut copy = tempfile::tempfile_in(&place).with_context(keep)?;
        let (sha256, bytes) =
            sha256_of_stream(from, &mut |block| copy.write_all(block)).with_context(keep)?;
        tell(&format!(
            "{}: {} MB, copied into {} until the end",
            name(&path),
            bytes.div_ceil(MEGABYTE),
            place.display()
        ));
        Ok(Self { path, copy: Some(copy), bytes, sha256, modified: None })
    }
}

/// Returns whether a path is `-`. A file of that name is `./-`.
fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

fn name(path: &Path) -> String {
    if is_standard_input(path) { "standard input".to_owned() } else { path.display().to_string() }
}
