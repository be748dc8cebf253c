//! The directory of a command that writes all its files at once.

use crate::program::program;
use anyhow::Result;
use documents::sha256;
use experiment::manifest::{Manifest, Moment};
use experiment::output::OutputDir;
use serde_json::Value;
use spec::Canonical;
use std::path::Path;

/// A directory that belongs to the results of some settings.
pub(crate) struct Output {
    dir: OutputDir,
    canonical: Canonical,
    started: Moment,
}

impl Output {
    /// Checks that `files` may be written for these settings, of which `optional` ones may be
    /// absent.
    pub(crate) fn claim(
        dir: &Path,
        settings: &Value,
        started: Moment,
        files: &[&str],
        optional: &[&'static str],
    ) -> Result<Self> {
        let canonical = Canonical::of_json(settings.to_string());
        let name = settings["name"].as_str().unwrap_or_default();
        let dir = OutputDir::claim(dir, &canonical, name, files, optional)?;
        Ok(Self { dir, canonical, started })
    }

    pub(crate) fn write(&self, threads: usize, files: &[(&str, &[u8])]) -> Result<()> {
        let digests = files.iter().map(|(name, content)| ((*name).to_owned(), sha256(content))).collect();
        let manifest = Manifest::of(&self.canonical, self.started, threads, digests, program());
        Ok(self.dir.write_all(&manifest.to_json(), files, vec![])?)
    }
}

/// Where numbers and page are, for a terminal.
pub(crate) fn places(dir: &Path, numbers: &str, page: &str) -> String {
    format!("\nAll numbers: {}\nPage: {}\n", dir.join(numbers).display(), dir.join(page).display())
}
