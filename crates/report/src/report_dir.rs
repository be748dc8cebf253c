//! The directory of a report: whose it is, and how the report's own two files get into it.
//!
//! The directory belongs to the reproduction that its `claims.json` names. Files that this program did not write are left alone:
//! where one has a name that the report needs, the directory is refused before anything is simulated.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use experiment::interrupt;
use experiment::{TemporaryFile, remove_left_overs, try_to_create_in};

/// The page.
pub const PAGE: &str = "index.html";
/// Every claim with what was found, and whose the directory is.
pub const CLAIMS: &str = "claims.json";
/// Version of the format of `claims.json`.
pub const SCHEMA: u32 = 1;

/// What a report is of, as its `claims.json` says; two reports of the same share a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Version of the format.
    pub schema: u32,
    /// Name of the experiment.
    pub experiment: String,
    /// Whether at a smaller scale than the papers'.
    pub quick: bool,
    /// The only panel, if not all are in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<String>,
    /// The master seed that was asked for instead of the experiment's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The number of runs that was asked for instead of the experiment's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
    /// SHA-256 of the data that were given, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// SHA-256 of the preferences that were given, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix: Option<String>,
}

impl Owner {
    /// In words, as in "the report of".
    fn words(&self) -> String {
        let scale = if self.quick { "quick" } else { "full" };
        let mut words = format!("a {scale} run of {}", self.experiment);
        if let Some(panel) = &self.panel {
            words = format!("{words} with --panel {panel}");
        }
        for (name, value) in [("--seed", self.seed), ("--runs", self.runs)] {
            if let Some(value) = value {
                words = format!("{words} with {name} {value}");
            }
        }
        if let Some(data) = &self.data {
            words = format!("{words} with --data (SHA-256 {}...)", data.get(..12).unwrap_or(data));
        }
        if let Some(matrix) = &self.matrix {
            words = format!("{words} with --matrix (SHA-256 {}...)", matrix.get(..12).unwrap_or(matrix));
        }
        words
    }
}

/// Refuses a directory that holds another report, or a file that this program did not write where the report or one of its `figures` (paths
/// relative to it) goes. Changes nothing.
///
/// # Errors
///
/// It does, or cannot be read or written.
pub fn check(dir: &Path, owner: &Owner, figures: &[String]) -> Result<()> {
    let (claims, page) = (dir.join(CLAIMS), dir.join(PAGE));
    let figures: Vec<PathBuf> = figures.iter().map(|figure| dir.join(figure)).collect();
    for file in [&claims, &page].into_iter().chain(&figures) {
        // A link would be replaced, too, and is none of ours.
        if fs::symlink_metadata(file).is_ok_and(|found| !found.is_file()) {
            bail!("{}: is in the way and no report: give another --out, or move it", file.display());
        }
    }
    if exists(&claims) {
        check_owner(dir, owner)?;
    } else if let Some(file) = std::iter::once(&page).chain(&figures).find(|file| exists(file)) {
        bail!(
            "{}: is in the way: without a {CLAIMS} beside it, it is no report of this program: give another --out, or move \
             the file",
            file.display()
        );
    }
    if dir.is_dir() {
        // A long run should not end at a directory that cannot be written.
        try_to_create_in(dir).with_context(|| format!("{}: cannot be written", dir.display()))?;
    }
    Ok(())
}

/// SHA-256 of the data that the report in a directory is of; none without such a report.
pub fn data_of(dir: &Path) -> Option<String> {
    serde_json::from_slice::<Owner>(&fs::read(dir.join(CLAIMS)).ok()?).ok()?.data
}

/// Refuses a directory whose `claims.json` is not this report's.
fn check_owner(dir: &Path, owner: &Owner) -> Result<()> {
    let (claims, page) = (dir.join(CLAIMS), dir.join(PAGE));
    let text = fs::read(&claims).with_context(|| format!("{}: cannot be read", claims.display()))?;
    match serde_json::from_slice::<Owner>(&text) {
        Ok(found) if found == *owner => Ok(()),
        Ok(found) if found.schema == SCHEMA => bail!(
            "{}: holds the report of {}, not of {}: give another --out, or delete {} and {} first",
            dir.display(),
            found.words(),
            owner.words(),
            claims.display(),
            page.display()
        ),
        _ => bail!(
            "{}: is in the way and no report that this program reads: give another --out, or move the file",
            claims.display()
        ),
    }
}

/// Writes the report's files, its `figures` (paths relative to it, and pictures) among them: all forced to disk under
/// temporary names first, then renamed, the one that says whose the directory is first and the page last.
///
/// # Errors
///
/// One cannot be written; what was begun is removed.
pub fn write(dir: &Path, claims: &str, page: &str, figures: &[(&str, &str)]) -> Result<()> {
    let files = std::iter::once((CLAIMS, claims)).chain(figures.iter().copied()).chain([(PAGE, page)]);
    fs::create_dir_all(dir).with_context(|| format!("{}: cannot be created", dir.display()))?;
    // Without locks on this file system two runs at once are the user's affair.
    let lock = File::open(dir).ok().filter(|dir| dir.lock().is_ok());
    let mut kept = interrupt::hold();
    let mut parts = Vec::new();
    let mut cleaned: Vec<PathBuf> = Vec::new();
    for (name, content) in files {
        let path = dir.join(name);
        let folder = path.parent().unwrap_or(dir);
        fs::create_dir_all(folder).with_context(|| format!("{}: cannot be created", folder.display()))?;
        if lock.is_some() && !cleaned.iter().any(|other| other == folder) {
            remove_left_overs(folder);
            cleaned.push(folder.to_owned());
        }
        let part = TemporaryFile::write(&path, content.as_bytes());
        parts.push((part.with_context(|| format!("{}: cannot be written", path.display()))?, path));
    }
    for (part, path) in parts {
        part.rename().with_context(|| format!("{}: cannot be put in place", path.display()))?;
    }
    // The renames themselves reach the disk with the directory, where the system lets one be opened.
    if let Some(opened) = lock {
        let _ = opened.sync_all();
    }
    kept.complete(dir);
    Ok(())
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::tempdir;

    fn owner() -> Owner {
        Owner {
            schema: SCHEMA,
            experiment: "small".to_owned(),
            quick: false,
            panel: None,
            seed: None,
            runs: None,
            data: None,
            matrix: None,
        }
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_report_replaces_only_one_of_the_same() {
        let top = tempdir().unwrap();
        let dir = top.path().join("new");
        check(&dir, &owner(), &[]).unwrap();
        assert!(!dir.exists());
        write(&dir, &serde_json::to_string(&owner()).unwrap(), "page", &[]).unwrap();
        fs::write(dir.join("notes.txt"), "mine").unwrap();
        check(&dir, &owner(), &[]).unwrap();
        write(&dir, &serde_json::to_string(&owner()).unwrap(), "another", &[]).unwrap();
        assert_eq!(names(&dir), ["claims.json", "index.html", "notes.txt"]);
        assert_eq!(fs::read_to_string(dir.join(PAGE)).unwrap(), "another");

        let others = [
            Owner { experiment: "other".to_owned(), ..owner() },
            Owner { quick: true, ..owner() },
            Owner { panel: Some("one".to_owned()), ..owner() },
            Owner { seed: Some(7), ..owner() },
            Owner { runs: Some(9), ..owner() },
            Owner { data: Some("0123456789abcdef".to_owned()), ..owner() },
            Owner { matrix: Some("0123456789abcdef".to_owned()), ..owner() },
        ];
        for other in others {
            let error = check(&dir, &other, &[]).unwrap_err().to_string();
            assert!(error.contains("holds the report of a full run of small, not of"), "{error}");
            assert!(error.contains(&other.words()), "{error}");
        }
    }

    #[test]
    fn files_of_a_stranger_are_in_the_way() {
        let refused = |prepare: &dyn Fn(&Path), file: &str| {
            let dir = tempdir().unwrap();
            prepare(dir.path());
            let before = names(dir.path());
            let error = check(dir.path(), &owner(), &[]).unwrap_err().to_string();
            assert!(error.contains(file) && error.contains("is in the way"), "{error}");
            assert_eq!(names(dir.path()), before);
        };
        refused(&|dir| fs::write(dir.join(PAGE), "my page").unwrap(), PAGE);
        refused(&|dir| fs::create_dir(dir.join(PAGE)).unwrap(), PAGE);
        refused(&|dir| fs::create_dir(dir.join(CLAIMS)).unwrap(), CLAIMS);
        let newer = serde_json::to_string(&Owner { schema: 2, ..owner() }).unwrap();
        for text in ["", "no JSON", "{}", "[]", "{\"experiment\": \"small\", \"quick\": false}", &newer] {
            refused(&|dir| fs::write(dir.join(CLAIMS), text).unwrap(), CLAIMS);
        }
    }

    #[test]
    fn left_overs_of_a_killed_run_are_cleaned_up() {
        let dir = tempdir().unwrap();
        fs::create_dir(dir.path().join("panel")).unwrap();
        for name in [".index.html.1.click-bandits-part", "panel/.final.svg.1.click-bandits-part"] {
            fs::write(dir.path().join(name), "half").unwrap();
        }
        fs::write(dir.path().join(".mine.part"), "mine").unwrap();
        write(dir.path(), "claims", "page", &[("panel/final.svg", "picture")]).unwrap();
        assert_eq!(names(dir.path()), [".mine.part", "claims.json", "index.html", "panel"]);
        assert_eq!(names(&dir.path().join("panel")), ["final.svg"]);
    }

    #[test]
    fn a_failure_leaves_no_temporary_file() {
        let dir = tempdir().unwrap();
        fs::create_dir(dir.path().join(PAGE)).unwrap();
        assert!(write(dir.path(), "claims", "page", &[]).is_err());
        assert_eq!(names(dir.path()), ["claims.json", "index.html"]);
        assert!(check(dir.path(), &owner(), &[]).is_err());
    }
}
