//! The output directory: which experiment owns it, and how results are written.
//!
//! The `manifest.json` of a directory names the experiment that owns it, by the base of its
//! canonical form. An experiment with another base is refused before anything is simulated. Files
//! that this program did not write are left alone.
//!
//! Results are written at the very end, all at once. Every file is first written under a temporary
//! name in the same directory and forced to disk. Then the files are renamed, `manifest.json` first
//! and `result.json` last. If the program is killed at any moment:
//!
//! - no file is half-written;
//! - a `result.json` is beside the manifest of its own experiment;
//! - if that `result.json` is from an older run of the experiment, its SHA-256 differs from the one
//!   in the manifest.
//!
//! Two runs that finish at the same time in one directory take turns (an advisory lock on the
//! directory, if the file system has them).

use crate::interrupt;
use crate::journal::JOURNAL;
use crate::manifest::Owner;
use crate::path_error::PathError;
use documents::{TemporaryFile, read_own, remove_left_overs, try_to_create_in};
use serde::Serialize;
use spec::Canonical;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The file that names the experiment that owns the directory.
pub const MANIFEST: &str = "manifest.json";
/// The file that marks a finished experiment.
pub const RESULT: &str = "result.json";
/// The optional file with every run.
pub const RUNS: &str = "runs.csv";
/// The file with the experiment as it was run.
pub const SPEC: &str = "spec.toml";
/// Files that every experiment writes besides its manifest.
const USUAL: [&str; 3] = [RESULT, "curves.csv", "timing.json"];
/// Files that an experiment writes only on request.
const OPTIONAL: &[&str] = &[RUNS];

/// A directory that this experiment may write to.
#[derive(Debug, fieldwork::Fieldwork)]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct OutputDir {
    /// The directory.
    #[field(name = path)]
    dir: PathBuf,
    identity: String,
    base: String,
    name: String,
    /// Files that it need not write, and that are removed if they are not written again.
    optional: Vec<&'static str>,
}

impl OutputDir {
    /// Checks that the experiment with this canonical form and name may write to `dir`, and changes
    /// nothing. `files` are those that it will write besides the usual ones; some may be absent:
    /// those that are also in `optional`. An optional file that an earlier run wrote, and this one
    /// does not, would not fit the new results, and is removed when they are written.
    ///
    /// # Errors
    ///
    /// The directory belongs to another experiment, or cannot be written; an optional file is that
    /// of another program.
    pub fn claim(
        dir: &Path,
        canonical: &Canonical,
        name: &str,
        files: &[&str],
        optional: &[&'static str],
    ) -> Result<Self, PathError> {
        // The empty path names no directory, but files in the current one.
        let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        let claimed = Self {
            dir: dir.to_owned(),
            identity: canonical.identity.clone(),
            base: canonical.base.clone(),
            name: name.to_owned(),
            optional: [OPTIONAL, optional].concat(),
        };
        claimed.check_owner(&[&USUAL, files].concat())?;
        // A file without a name, in the directory or in its innermost ancestor that exists.
        let place = existing_ancestor(dir);
        try_to_create_in(&place).map_err(PathError::system(&place, "cannot be written"))?;
        Ok(claimed)
    }

    /// Returns whether every experiment writes a file of this name.
    pub fn is_usual(name: &str) -> bool {
        name == MANIFEST || USUAL.contains(&name)
    }

    /// Writes the manifest and the other files, by name: with a content, or `large` ones that have
    /// temporary names in the directory. All or none, unless the system fails between two renames.
    ///
    /// # Errors
    ///
    /// Another experiment took the directory in the meantime, or a file cannot be written.
    /// Temporary files are removed.
    pub fn write_all(
        &self,
        manifest: &[u8],
        files: &[(&str, &[u8])],
        large: Vec<(&str, TemporaryFile)>,
    ) -> Result<(), PathError> {
        let created = CreatedDirs::create(&self.dir)?;
        let lock = File::open(&self.dir).ok();
        // A file system without locks cannot keep two runs apart.
        let _ = lock.as_ref().map(File::lock);
        let mut kept = interrupt::hold();
        remove_left_overs(&self.dir);
        let names: Vec<&str> =
            files.iter().map(|&(name, _)| name).chain(large.iter().map(|(name, _)| *name)).collect();
        self.check_owner(&names)?;

        let result_last = |&&(name, _): &&(&str, &[u8])| name == RESULT;
        let mut ordered: Vec<&(&str, &[u8])> = files.iter().collect();
        ordered.sort_by_key(result_last);
        let mut parts = Vec::new();
        for &(name, content) in std::iter::once(&(MANIFEST, manifest)).chain(ordered) {
            let path = self.dir.join(name);
            let part = TemporaryFile::write(&path, content)
                .map_err(PathError::system(&path, "cannot be written"))?;
            parts.push((path, part));
        }
        created.keep();
        // Between the manifest and the other files.
        parts.splice(1..1, large.into_iter().map(|(name, part)| (self.dir.join(name), part)));
        // An optional file of an older run would not fit the new results.
        let older = read_own(&self.dir.join(MANIFEST)).ok().and_then(|manifest| Owner::read(&manifest));
        let is_older =
            |name: &&str| older.as_ref().is_some_and(|owner| owner.files.iter().any(|file| file == name));
        for &name in self.optional.iter().filter(|name| is_older(name) && !names.contains(name)) {
            let _ = fs::remove_file(self.dir.join(name));
        }
        for (path, part) in parts {
            part.rename().map_err(PathError::system(&path, "cannot be put in place"))?;
        }
        // The renames reach the disk when the directory does.
        if let Some(dir) = lock {
            let _ = dir.sync_all();
        }
        kept.complete(&self.dir);
        Ok(())
    }

    /// Refuses a directory of another experiment, and one in which the manifest and `names` would
    /// replace a directory or a file that this program did not write.
    fn check_owner(&self, names: &[&str]) -> Result<(), PathError> {
        let dir = &self.dir;
        match fs::metadata(dir) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(not_a_directory(dir)),
            // A link to nowhere also takes the name.
            Err(_) if fs::symlink_metadata(dir).is_ok() => {
                return Err(not_a_directory(dir));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(not_a_directory(existing_ancestor(dir)));
            }
            Err(error) => return Err(PathError::system(dir, "cannot be looked at")(error)),
        }
        let mut targets = names.iter().copied().chain([MANIFEST]).map(|name| dir.join(name));
        // A link to a directory may be replaced, as a file may.
        if let Some(path) =
            targets.find(|path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir()))
        {
            let fault = "is a directory where a file will be: give another directory, or move this one";
            return Err(PathError::new(path, fault));
        }
        let has_result = exists(&dir.join(RESULT));
        let unknown = |found: String, files: &[&str]| {
            let remedy = or_move(dir, &files.iter().map(|&file| file.to_owned()).collect::<Vec<_>>());
            PathError::new(dir, format!("has {found}, so its experiment is unknown: {remedy}"))
        };
        let manifest = match read_own(&dir.join(MANIFEST)) {
            Ok(manifest) => manifest,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if has_result {
                    return Err(unknown(format!("a {RESULT}, but no {MANIFEST}"), &[RESULT]));
                }
                let taken = names.iter().map(|name| dir.join(name)).find(|path| exists(path));
                return taken.map_or(Ok(()), |path| Err(PathError::in_the_way(path)));
            }
            Err(error) => return Err(PathError::system(&dir.join(MANIFEST), "cannot be read")(error)),
        };
        let owner = Owner::read(&manifest).ok_or_else(|| {
            if has_result {
                let found = format!("a {RESULT}, but its {MANIFEST} names no experiment");
                unknown(found, &[MANIFEST, RESULT])
            } else {
                unknown(format!("a {MANIFEST} that names no experiment"), &[MANIFEST])
            }
        })?;
        if owner.identity == self.identity || owner.base.as_ref() == Some(&self.base) {
            // Every run writes the other files, so they are results.
            let is_foreign = |name: &&str| {
                names.contains(name)
                    && exists(&dir.join(name))
                    && !owner.files.iter().any(|file| file == name)
            };
            let foreign = self.optional.iter().copied().find(is_foreign);
            return foreign.map_or(Ok(()), |name| Err(PathError::in_the_way(dir.join(name))));
        }
        let name = if owner.name == self.name {
            format!("{:?} as well, but with other settings or other data", owner.name)
        } else {
            format!("{:?}", owner.name)
        };
        let mut files = vec![MANIFEST.to_owned()];
        files.extend(has_result.then(|| RESULT.to_owned()));
        files.extend(owner.files.into_iter().filter(|name| name != RESULT && exists(&dir.join(name))));
        files.extend(exists(&dir.join(JOURNAL)).then(|| JOURNAL.to_owned()));
        let remedy = or_move(dir, &files);
        Err(PathError::new(dir, format!("belongs to another experiment ({name}): {remedy}")))
    }
}

/// The content of a file with a value whose JSON has indents.
pub(crate) fn to_json(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).expect("only finite numbers and text");
    text.push(b'\n');
    text
}

/// Directories that were created for the results. `Drop` removes those that are empty, unless
/// [`CreatedDirs::keep`] was called.
#[derive(Debug)]
struct CreatedDirs {
    /// Innermost first.
    dirs: Vec<PathBuf>,
}

impl CreatedDirs {
    fn create(dir: &Path) -> Result<Self, PathError> {
        let missing = dir.ancestors().take_while(|ancestor| is_missing(ancestor));
        let created = Self { dirs: missing.map(Path::to_owned).collect() };
        fs::create_dir_all(dir).map_err(PathError::system(dir, "cannot be created"))?;
        Ok(created)
    }

    fn keep(mut self) {
        self.dirs.clear();
    }
}

impl Drop for CreatedDirs {
    fn drop(&mut self) {
        for dir in &self.dirs {
            let _ = fs::remove_dir(dir);
        }
    }
}

/// The innermost ancestor that exists; `.` for a relative path without any.
fn existing_ancestor(dir: &Path) -> PathBuf {
    let existing = dir.ancestors().find(|ancestor| !is_missing(ancestor));
    match existing {
        Some(ancestor) if !ancestor.as_os_str().is_empty() => ancestor.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Returns whether the path does not exist. The empty path is the current directory, which exists.
fn is_missing(path: &Path) -> bool {
    !path.as_os_str().is_empty() && !exists(path)
}

/// Returns whether the path exists, if only as a broken link.
fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// The remedy for a directory whose owner is another experiment, or unknown.
fn or_move(dir: &Path, files: &[String]) -> String {
    let files: Vec<String> = files.iter().map(|file| dir.join(file).display().to_string()).collect();
    format!("give another directory, or move {} away first", files.join(" and "))
}

fn not_a_directory(path: impl Into<PathBuf>) -> PathError {
    PathError::new(path, "is not a directory: give a directory, or a name that is not taken")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::{TempDir, tempdir};

    fn manifest(canonical: &str) -> Vec<u8> {
        let identity = documents::sha256(canonical.as_bytes());
        format!(r#"{{ "identity": "{identity}", "experiment": {{ "name": "other" }} }}"#).into_bytes()
    }

    /// Every file below a directory with its content.
    fn contents(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(contents(&path));
            } else {
                found.push((path.clone(), fs::read(&path).unwrap()));
            }
        }
        found.sort();
        found
    }

    fn claim(dir: &Path) -> Result<OutputDir, PathError> {
        let mine = Canonical::of_json("mine".to_owned());
        OutputDir::claim(dir, &mine, "me", &["regret.svg"], &[])
    }

    /// The error for a directory with these files. Checks that the directory did not change.
    fn refusal(files: &[(&str, &[u8])]) -> String {
        let dir = tempdir().unwrap();
        for (name, content) in files {
            fs::write(dir.path().join(name), content).unwrap();
        }
        let before = contents(dir.path());
        let message = claim(dir.path()).unwrap_err().to_string();
        assert_eq!(contents(dir.path()), before);
        message.replace(&dir.path().display().to_string(), "DIR")
    }

    #[test]
    fn claiming_changes_nothing_and_writing_creates_the_directory() {
        let top = tempdir().unwrap();
        let dir = top.path().join("a/b");
        let output = claim(&dir).unwrap();
        assert_eq!(fs::read_dir(top.path()).unwrap().count(), 0);
        output.write_all(&manifest("mine"), &[(RESULT, b"{}"), ("curves.csv", b"t\n")], vec![]).unwrap();
        let names: Vec<_> = contents(&dir).into_iter().map(|(path, _)| path).collect();
        assert_eq!(names, ["curves.csv", MANIFEST, RESULT].map(|name| dir.join(name)));
        // The same experiment may write again, and other files stay.
        fs::write(dir.join("notes.txt"), "mine").unwrap();
        claim(&dir).unwrap().write_all(&manifest("mine"), &[(RESULT, b"{ }")], vec![]).unwrap();
        assert_eq!(fs::read(dir.join(RESULT)).unwrap(), b"{ }");
        assert_eq!(fs::read(dir.join("notes.txt")).unwrap(), b"mine");
        assert_eq!(contents(&dir).len(), 4);
    }

    #[test]
    fn another_experiment_is_refused() {
        let other = manifest("theirs");
        let expected = |files: &str| {
            format!(
                "DIR: belongs to another experiment (\"other\"): give another directory, or move {files} away first"
            )
        };
        let both = "DIR/manifest.json and DIR/result.json";
        assert_eq!(refusal(&[(MANIFEST, &other), (RESULT, b"{}")]), expected(both));
        assert_eq!(refusal(&[(MANIFEST, &other)]), expected("DIR/manifest.json"));
        let expected = |found: &str, files: &str| {
            let remedy = format!("give another directory, or move {files} away first");
            format!("DIR: has {found}, so its experiment is unknown: {remedy}")
        };
        assert_eq!(
            refusal(&[(RESULT, b"{}")]),
            expected("a result.json, but no manifest.json", "DIR/result.json")
        );
        for broken in [&b""[..], b"{", b"{}", b"[]", b"\xff", br#"{ "identity": 3 }"#] {
            let message = refusal(&[(MANIFEST, broken), (RESULT, b"{}")]);
            let found = "a result.json, but its manifest.json names no experiment";
            assert_eq!(message, expected(found, "DIR/manifest.json and DIR/result.json"));
            let found = "a manifest.json that names no experiment";
            assert_eq!(refusal(&[(MANIFEST, broken)]), expected(found, "DIR/manifest.json"));
        }
        for name in ["curves.csv", "regret.svg"] {
            let end =
                "is in the way and not a result of this program: give another directory, or move the file";
            assert_eq!(refusal(&[(name, b"mine")]), format!("DIR/{name}: {end}"));
        }
    }

    #[test]
    fn a_directory_with_the_name_of_a_file_is_refused_before_anything_is_replaced() {
        for name in [RESULT, MANIFEST, "curves.csv", "regret.svg"] {
            let top = tempdir().unwrap();
            let dir = top.path();
            let files: [(&str, &[u8]); 3] =
                [(RESULT, b"new"), ("curves.csv", b"new"), ("regret.svg", b"new")];
            let output = claim(dir).unwrap();
            output.write_all(&manifest("mine"), &files.map(|(name, _)| (name, &b"old"[..])), vec![]).unwrap();
            fs::remove_file(dir.join(name)).unwrap();
            fs::create_dir(dir.join(name)).unwrap();
            let before = contents(dir);
            let message = format!(
                "{}: is a directory where a file will be: give another directory, or move this one",
                dir.join(name).display()
            );
            assert_eq!(claim(dir).unwrap_err().to_string(), message);
            assert_eq!(output.write_all(&manifest("mine"), &files, vec![]).unwrap_err().to_string(), message);
            assert_eq!(contents(dir), before);
        }
    }

    #[test]
    fn the_name_of_a_file_is_refused_as_a_directory() {
        let top = tempdir().unwrap();
        let file = top.path().join("file");
        fs::write(&file, "text").unwrap();
        for dir in [file.clone(), file.join("below"), file.join("far/below")] {
            let message = claim(&dir).unwrap_err().to_string();
            assert!(message.starts_with(&format!("{}: is not a directory: ", file.display())), "{message}");
        }
        assert_eq!(fs::read(&file).unwrap(), b"text");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_place_that_cannot_be_written_is_refused_before_the_run() {
        let message = claim(Path::new("/proc/none/here")).unwrap_err().to_string();
        assert!(message.starts_with("/proc: cannot be written: "), "{message}");
    }

    #[test]
    fn a_relative_path_is_resolved_from_the_current_directory() {
        assert_eq!(existing_ancestor(Path::new("no-such-directory/below")), Path::new("."));
        assert_eq!(existing_ancestor(Path::new("src/no-such-directory")), Path::new("src"));
    }

    #[test]
    fn a_failed_write_leaves_nothing_behind() {
        let top = tempdir().unwrap();
        let dir = top.path().join("a/b");
        let output = claim(&dir).unwrap();
        // A file below a directory that does not exist cannot be written.
        let failed = output.write_all(&manifest("mine"), &[(RESULT, b"{}"), ("no/such", b"")], vec![]);
        assert!(failed.unwrap_err().to_string().contains("cannot be written: "));
        assert_eq!(fs::read_dir(top.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_that_another_experiment_took_during_the_run_is_untouched() {
        let top = tempdir().unwrap();
        let output = claim(top.path()).unwrap();
        fs::write(top.path().join(MANIFEST), manifest("theirs")).unwrap();
        let before = contents(top.path());
        let failed = output.write_all(&manifest("mine"), &[(RESULT, b"{}")], vec![]);
        assert!(failed.unwrap_err().to_string().contains("belongs to another experiment"));
        assert_eq!(contents(top.path()), before);
    }

    /// Otherwise the runs of one day would be beside the results of another.
    #[test]
    fn an_older_runs_file_is_removed_when_new_results_come_without_one() {
        let top = tempdir().unwrap();
        let claim = || claim(top.path()).unwrap();
        let listed = String::from_utf8(manifest("mine")).unwrap();
        let listed = listed.replacen('{', r#"{ "files": { "runs.csv": "" },"#, 1).into_bytes();
        claim().write_all(&listed, &[(RESULT, b"{}"), (RUNS, b"run,t\n")], vec![]).unwrap();
        assert!(top.path().join(RUNS).is_file());
        claim().write_all(&manifest("mine"), &[(RESULT, b"{ }")], vec![]).unwrap();
        assert!(!top.path().join(RUNS).exists());
    }

    /// Otherwise a table of one form would be beside one of another.
    #[test]
    fn an_optional_file_is_replaced_by_another() {
        let top = tempdir().unwrap();
        let mine = Canonical::of_json("mine".to_owned());
        let claim = || {
            let (files, optional) = (["a", "b", "c"], ["a", "b"]);
            OutputDir::claim(top.path(), &mine, "me", &files, &optional)
        };
        let listed = |files: &str| {
            let listed = String::from_utf8(manifest("mine")).unwrap();
            listed.replacen('{', &format!("{{ \"files\": {{ {files} }},"), 1).into_bytes()
        };
        let first = listed("\"a\": \"\", \"c\": \"\"");
        claim().unwrap().write_all(&first, &[("a", b"old"), ("c", b"old")], vec![]).unwrap();
        // Only an optional file is removed.
        claim().unwrap().write_all(&listed("\"b\": \"\""), &[("b", b"new")], vec![]).unwrap();
        let names: Vec<_> = contents(top.path()).into_iter().map(|(path, _)| path).collect();
        assert_eq!(names, ["b", "c", MANIFEST].map(|name| top.path().join(name)));
        // A file of another program under such a name is in the way, before anything is computed.
        fs::write(top.path().join("a"), "theirs").unwrap();
        let message = claim().unwrap_err().to_string();
        assert!(message.contains("a: is in the way and not a result of this program"), "{message}");
        assert_eq!(fs::read(top.path().join("a")).unwrap(), b"theirs");
    }

    #[test]
    fn a_runs_file_that_the_manifest_does_not_list_is_in_the_way() {
        let top = tempdir().unwrap();
        claim(top.path()).unwrap().write_all(&manifest("mine"), &[(RESULT, b"{}")], vec![]).unwrap();
        fs::write(top.path().join(RUNS), "mine").unwrap();
        let mine = Canonical::of_json("mine".to_owned());
        let message = OutputDir::claim(top.path(), &mine, "me", &[RUNS], &[]).unwrap_err().to_string();
        assert!(message.contains("runs.csv: is in the way and not a result"), "{message}");
        claim(top.path()).unwrap().write_all(&manifest("mine"), &[(RESULT, b"{ }")], vec![]).unwrap();
        assert_eq!(fs::read(top.path().join(RUNS)).unwrap(), b"mine");
    }

    #[test]
    fn temporary_files_of_a_killed_run_are_removed() {
        let top: TempDir = tempdir().unwrap();
        fs::write(top.path().join(".result.json.1.click-bandits-part"), "half").unwrap();
        fs::write(top.path().join(".hidden"), "mine").unwrap();
        claim(top.path()).unwrap().write_all(&manifest("mine"), &[(RESULT, b"{}")], vec![]).unwrap();
        let names: Vec<_> = contents(top.path()).into_iter().map(|(path, _)| path).collect();
        assert_eq!(names, [".hidden", MANIFEST, RESULT].map(|name| top.path().join(name)));
    }
}
