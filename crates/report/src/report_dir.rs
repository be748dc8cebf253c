//! The directory of a report: which reproduction owns it, and how the report's files are written.
//!
//! The `claims.json` of a directory names the reproduction that owns it. Files that this program
//! did not write are left alone. If such a file has a name that the report needs, the directory is
//! refused before anything is simulated.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use documents::{TemporaryFile, read_own, remove_left_overs, try_to_create_in};
use experiment::{PathError, interrupt};

/// The page.
pub const PAGE: &str = "index.html";
/// Every claim with its verdict, and the owner of the directory.
pub const CLAIMS: &str = "claims.json";
/// Version of the format of `claims.json`.
pub const SCHEMA: u32 = 1;

/// The owner of a directory as `claims.json` names it: an experiment and its options.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Version of the format.
    pub schema: u32,
    /// Name of the experiment.
    pub experiment: String,
    /// Whether it is a quick check, at a smaller scale than the papers'.
    pub quick: bool,
    /// The only panel, if the report does not have all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<String>,
    /// The master seed that replaces the experiment's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The number of runs that replaces the experiment's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
    /// SHA-256 of the given data, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// SHA-256 of the given preferences, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix: Option<String>,
}

impl Owner {
    /// A description that follows "the report of".
    pub fn words(&self) -> String {
        let scale = if self.quick { "quick" } else { "full" };
        let hash = |hash: &String| format!("(SHA-256 {}...)", hash.get(..12).unwrap_or(hash));
        let given = [
            ("panel", self.panel.clone()),
            ("seed", self.seed.map(|seed| seed.to_string())),
            ("runs", self.runs.map(|runs| runs.to_string())),
            ("data", self.data.as_ref().map(hash)),
            ("matrix", self.matrix.as_ref().map(hash)),
        ];
        let given =
            given.iter().filter_map(|(name, value)| Some(format!(" with {name} {}", value.as_ref()?)));
        format!("a {scale} run of {}{}", self.experiment, given.collect::<String>())
    }
}

/// Refuses a directory with another report. Also refuses to replace a file that this program did
/// not write by a file of the report; `figures` are paths of such files relative to `dir`. Changes
/// nothing.
///
/// # Errors
///
/// The directory is refused, or cannot be read or written.
pub fn check(dir: &Path, owner: &Owner, figures: &[String]) -> Result<(), PathError> {
    let claims = dir.join(CLAIMS);
    let others: Vec<PathBuf> =
        std::iter::once(PAGE).chain(figures.iter().map(String::as_str)).map(|file| dir.join(file)).collect();
    let found = |file: &Path| fs::symlink_metadata(file).ok();
    // A link would be replaced as well, and this program writes none.
    let is_no_file = |file: &&PathBuf| found(file).is_some_and(|found| !found.is_file());
    if let Some(file) = std::iter::once(&claims).chain(&others).find(is_no_file) {
        return Err(PathError::in_the_way(file.clone()));
    }
    if found(&claims).is_some() {
        check_owner(dir, owner)?;
    } else if let Some(file) = others.into_iter().find(|file| found(file).is_some()) {
        // Without a `claims.json` beside it, it is not a report of this program.
        return Err(PathError::in_the_way(file));
    }
    if dir.is_dir() {
        // A long run should not end at a directory that cannot be written.
        try_to_create_in(dir).map_err(PathError::system(dir, "cannot be written"))?;
    }
    Ok(())
}

/// SHA-256 of the data of the report in a directory; `None` without a report or without data.
pub fn data_of(dir: &Path) -> Option<String> {
    serde_json::from_slice::<Owner>(&read_own(&dir.join(CLAIMS)).ok()?).ok()?.data
}

/// Refuses a directory with the `claims.json` of another report.
fn check_owner(dir: &Path, owner: &Owner) -> Result<(), PathError> {
    let claims = dir.join(CLAIMS);
    let text = read_own(&claims).map_err(PathError::system(&claims, "cannot be read"))?;
    match serde_json::from_slice::<Owner>(&text) {
        Ok(found) if found == *owner => Ok(()),
        Ok(found) if found.schema == SCHEMA => {
            let (found, wanted, page) = (found.words(), owner.words(), dir.join(PAGE));
            let remedy = format!("move {} and {} away first", claims.display(), page.display());
            let fault =
                format!("holds the report of {found}, not of {wanted}: give another directory, or {remedy}");
            Err(PathError::new(dir, fault))
        }
        _ => Err(PathError::in_the_way(claims)),
    }
}

/// Writes the files of a report: `claims.json`, the `figures` (paths relative to `dir`, and
/// pictures), and the page. All files are first forced to disk under temporary names and then
/// renamed, `claims.json` first and the page last.
///
/// # Errors
///
/// A file cannot be written. Temporary files are removed.
pub fn write(dir: &Path, claims: &str, page: &str, figures: &[(&str, &str)]) -> Result<(), PathError> {
    let files = std::iter::once((CLAIMS, claims)).chain(figures.iter().copied()).chain([(PAGE, page)]);
    fs::create_dir_all(dir).map_err(PathError::system(dir, "cannot be created"))?;
    // A file system without locks cannot keep two runs apart.
    let lock = File::open(dir).ok().filter(|dir| dir.lock().is_ok());
    let mut kept = interrupt::hold();
    let mut parts = Vec::new();
    let mut cleaned: Vec<PathBuf> = Vec::new();
    for (name, content) in files {
        let path = dir.join(name);
        let folder = path.parent().unwrap_or(dir);
        fs::create_dir_all(folder).map_err(PathError::system(folder, "cannot be created"))?;
        if !cleaned.iter().any(|other| other == folder) {
            remove_left_overs(folder);
            cleaned.push(folder.to_owned());
        }
        let part = TemporaryFile::write(&path, content.as_bytes())
            .map_err(PathError::system(&path, "cannot be written"))?;
        parts.push((part, path));
    }
    for (part, path) in parts {
        part.rename().map_err(PathError::system(&path, "cannot be put in place"))?;
    }
    // The renames reach the disk when the directory does, if the system can open a directory.
    if let Some(opened) = lock {
        let _ = opened.sync_all();
    }
    kept.complete(dir);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::tempdir;

    fn owner() -> Owner {
        Owner { schema: SCHEMA, experiment: "small".to_owned(), ..Owner::default() }
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
    fn a_report_replaces_only_a_report_with_the_same_owner() {
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

        for other in [Owner { quick: true, ..owner() }, Owner { runs: Some(9), ..owner() }] {
            let error = check(&dir, &other, &[]).unwrap_err().to_string();
            assert!(error.contains("holds the report of a full run of small, not of"), "{error}");
            assert!(error.contains(&other.words()), "{error}");
        }
    }

    #[test]
    fn files_that_the_program_did_not_write_are_not_replaced() {
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
    fn temporary_files_of_a_killed_run_are_removed() {
        let dir = tempdir().unwrap();
        fs::create_dir(dir.path().join("panel")).unwrap();
        for name in [".index.html.1.click-bandits-part", "panel/.final.svg.1.click-bandits-part"] {
            fs::write(dir.path().join(name), "half").unwrap();
        }
        fs::write(dir.path().join(".mine.part"), "mine").unwrap();
        write(dir.path(), "claims", "page", &[("panel/final.svg", "picture")]).unwrap();
        assert_eq!(names(dir.path()), [".mine.part", "claims.json", "index.html", "panel"]);
        assert_eq!(names(&dir.path().join("panel")), ["final.svg"]);
        // A failure leaves none.
        fs::remove_file(dir.path().join(PAGE)).unwrap();
        fs::create_dir(dir.path().join(PAGE)).unwrap();
        assert!(write(dir.path(), "claims", "page", &[]).is_err());
        assert_eq!(names(dir.path()), [".mine.part", "claims.json", "index.html", "panel"]);
    }
}
