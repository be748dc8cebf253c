//! The results in a directory: one, or one for each panel or variant of a reproduction.

use anyhow::{Context as _, Result, bail};
use experiment::FinishedResult;
use experiment::output::RESULT;
use report::report_dir::CLAIMS;
use std::fs;
use std::path::{Path, PathBuf};

/// A finished result, and its place in a reproduction.
#[derive(Debug)]
pub(crate) struct Panel {
    /// Its name; `None` outside of reproductions.
    pub(crate) name: Option<String>,
    /// The name of its variant; `None` for a panel without variants.
    pub(crate) variant: Option<String>,
    pub(crate) finished: FinishedResult,
}

/// The result in a directory, or those of all panels of a reproduction, by name.
pub(crate) fn open(dir: &Path) -> Result<Vec<Panel>> {
    if !dir.join(CLAIMS).exists() {
        return Ok(vec![Panel { name: None, variant: None, finished: FinishedResult::open(dir)? }]);
    }
    let mut panels = Vec::new();
    for (panel, folder) in folders(dir)? {
        if folder.join(RESULT).exists() {
            let finished = FinishedResult::open(&folder)?;
            panels.push(Panel { name: Some(panel), variant: None, finished });
            continue;
        }
        for (variant, folder) in folders(&folder)? {
            if folder.join(RESULT).exists() {
                let finished = FinishedResult::open(&folder)?;
                panels.push(Panel { name: Some(panel.clone()), variant: Some(variant), finished });
            }
        }
    }
    if panels.is_empty() {
        bail!("{}: holds the report of a reproduction without the result of a panel", dir.display());
    }
    Ok(panels)
}

/// The folders in a directory by their names, sorted.
fn folders(dir: &Path) -> Result<Vec<(String, PathBuf)>> {
    let cannot = || format!("{}: cannot be read", dir.display());
    let mut folders = Vec::new();
    for entry in fs::read_dir(dir).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        if let Some(name) = path.file_name().filter(|_| path.is_dir()) {
            folders.push((name.to_string_lossy().into_owned(), path.clone()));
        }
    }
    folders.sort();
    Ok(folders)
}
