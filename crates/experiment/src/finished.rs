//! A directory with a finished result, read back: its result, its manifest, its experiment and its
//! runs. Nothing in it changes.

use crate::journal::{JOURNAL, Journal, JournalError};
use crate::manifest::Manifest;
use crate::output::{MANIFEST, RESULT, SPEC};
use crate::part::PartFile;
use crate::path_error::PathError;
use crate::result::{PolicyResult, PolicySummary, ResultFile};
use crate::runs::{Layout, Runs};
use documents::names::title_fault;
use documents::toml_reader::{Error, read_file};
use documents::{is_link, sha256_of_file};
use spec::Experiment;
use spec::models::OWN;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Files that identify the directories of other commands, and what such a directory holds.
const OTHER_DIRECTORIES: [(&str, &str); 4] = [
    ("claims.json", "the report of a reproduction: name the directory of one of its panels"),
    (
        "parameters.json",
        "click models that were fitted to a log: run its spec.toml or decision.toml with `simulate` first",
    ),
    ("preferences.csv", "a preference matrix, and no result of `simulate`"),
    ("report.json", "the report on a preference matrix, and no result of `simulate`"),
];

documents::debug_is_display!(FinishedError);

/// Why a directory is not one with a finished result.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum FinishedError {
    /// The directory, or a file in it, is not that of a finished result.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The result or the experiment cannot be read.
    #[error(transparent)]
    Document(#[from] Error),
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// A directory with a finished result.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FinishedResult {
    /// The directory.
    pub dir: PathBuf,
    /// How, when and where the result was made.
    pub manifest: Manifest,
    /// The content of `result.json`, with the unit of regret if `spec.toml` can be read.
    pub result: ResultFile,
}

impl FinishedResult {
    /// Opens the directory of a finished experiment. Its files may be of another version of this
    /// program, as long as their layout is known.
    ///
    /// # Errors
    ///
    /// The directory is missing, unfinished, or another command's; its manifest or result is
    /// missing, of another layout or changed.
    ///
    /// # Examples
    ///
    /// ```
    /// use click_models::CascadeModel;
    /// use experiment::{FinishedResult, Quantity, Runner};
    /// use spec::{Experiment, Instances};
    ///
    /// let users = CascadeModel::from_values(&[0.4, 0.2, 0.1], 2)?;
    /// let experiment =
    ///     Experiment::builder("small", Instances::of([users])).horizon(100).runs(3).policy("cascade-ts").build()?;
    /// let dir = tempfile::tempdir()?;
    /// let measured = Runner::new(&experiment).run_into(dir.path())?;
    ///
    /// let finished = FinishedResult::open(dir.path())?;
    /// assert_eq!(finished.result.policies, measured.result.policies);
    /// assert_eq!(finished.runs()?.column(0, Quantity::Regret, 0)?, measured.regret(0, 0)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(dir: &Path) -> Result<Self, FinishedError> {
        if !dir.is_dir() {
            let fault = "is not a directory: expected one that `simulate` has written";
            return Err(PathError::new(dir, fault).into());
        }
        let (result_path, manifest_path) = (dir.join(RESULT), dir.join(MANIFEST));
        if !result_path.exists() {
            return Err(without_result(dir).into());
        }
        let files = [RESULT, MANIFEST, SPEC].map(|name| dir.join(name));
        if let Some(path) = files.into_iter().find(|path| is_link(path)) {
            return Err(PathError::new(path, "is a link, which this program does not write").into());
        }
        let result = ResultFile::read(&result_path)?;
        for (index, policy) in result.policies.iter().enumerate() {
            if let Some(fault) = title_fault(&policy.label) {
                let fault = format!("policies[{index}].label: {fault}");
                return Err(PathError::new(result_path, fault).into());
            }
        }
        let bytes = read_file(&manifest_path, "a manifest.json")?;
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|error| {
            let fault = format!("is not the manifest of a result, or of another version: {error}");
            PathError::new(&manifest_path, fault)
        })?;
        if manifest.schema != Manifest::SCHEMA {
            let fault = format!("schema: {} found: expected {}", manifest.schema, Manifest::SCHEMA);
            return Err(PathError::new(manifest_path, fault).into());
        }
        let mut finished = Self { dir: dir.to_owned(), manifest, result };
        finished.check_file(RESULT)?;
        // The unit is in no file. Without a readable experiment, the general word stays.
        if let Ok(experiment) = finished.experiment() {
            finished.result.unit = experiment.instances().unit();
        }
        Ok(finished)
    }

    /// SHA-256 of everything in the experiment but the number of runs and the policies; `None` in
    /// results of early versions.
    pub fn base(&self) -> Option<&str> {
        self.manifest.base.as_deref()
    }

    /// The experiment, from `spec.toml`, without contenders of the caller.
    ///
    /// # Errors
    ///
    /// The file is missing or changed, or this version cannot read it.
    pub fn experiment(&self) -> Result<Experiment, FinishedError> {
        self.check_file(SPEC)?;
        Ok(Experiment::read_file(&self.dir.join(SPEC))?)
    }

    /// Every run of every policy, from the journal; policies in the order of the result. Values are
    /// read when they are asked for.
    ///
    /// # Errors
    ///
    /// The journal is missing, damaged, or lacks runs: those of the caller's contenders are in no
    /// journal. Errors of [`FinishedResult::experiment`].
    pub fn runs(&self) -> Result<Runs, FinishedError> {
        let result = &self.result;
        let instances = self.experiment()?.instances_of_runs();
        let journal = self.dir.join(JOURNAL);
        let missing = |policy: &PolicyResult, found: u64| {
            let (all, label) = (result.runs, &policy.label);
            let own = ": the program that played it writes them with `experiment::tables::runs`";
            let remedy = if policy.policy == OWN { own } else { "" };
            let fault = "so its runs cannot be shown";
            PathError::new(&journal, format!("has {found} of the {all} runs of {label:?}, {fault}{remedy}"))
        };
        let mut sequences = Vec::new();
        for policy in &result.policies {
            let layout = match &policy.summary {
                PolicySummary::Curves(curves) => Layout::Curves(curves.t.len()),
                PolicySummary::Answers(_) => Layout::Answers,
            };
            let base = self.base().unwrap_or_default();
            let sequence = Journal::read(&self.dir, base, &policy.label, layout, result.runs)?;
            let sequence = sequence.ok_or_else(|| missing(policy, 0))?;
            if sequence.n_missing() > 0 || instances.len() as u64 != result.runs {
                return Err(missing(policy, sequence.n_recorded()).into());
            }
            sequences.push((layout, sequence));
        }
        let layout = sequences.first().map_or(Layout::Answers, |(layout, _)| *layout);
        let sequences = sequences.into_iter().map(|(_, sequence)| Mutex::new(sequence)).collect();
        Ok(Runs::new(layout, instances, Arc::new(sequences))?)
    }

    /// Checks that a file is the one that the manifest lists.
    fn check_file(&self, name: &str) -> Result<(), PathError> {
        let path = self.dir.join(name);
        let fault = match (self.manifest.files.get(name), sha256_of_file(&path)) {
            (_, Err(error)) => format!("cannot be read: {error}"),
            (Some(listed), Ok(found)) if *listed == found => return Ok(()),
            (Some(_), Ok(_)) => format!(
                "is not the file that {MANIFEST} lists: it was changed, or the program was killed while it wrote; `simulate` with the \
                 same experiment and directory writes it again"
            ),
            (None, Ok(_)) => format!("is not listed in {MANIFEST}, so it is not a file of this result"),
        };
        Err(PathError::new(path, fault))
    }
}

fn without_result(dir: &Path) -> PathError {
    let found = OTHER_DIRECTORIES.iter().find(|(name, _)| dir.join(name).exists());
    if let Some((_, found)) = found {
        return PathError::new(dir, format!("holds {found}"));
    }
    let fault = match PartFile::read(dir) {
        Ok(Some(PartFile { shard, name, .. })) => {
            format!("holds shard {shard} of {name:?}: join the shards with `click-bandits merge` first")
        }
        Err(error) => return error,
        Ok(None) if fs::metadata(dir.join(JOURNAL)).is_ok() => {
            "is not finished: `simulate` with the same experiment and directory continues".to_owned()
        }
        Ok(None) => format!("has no {RESULT}: expected a directory that `simulate` has written"),
    };
    PathError::new(dir, fault)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Quantity, Runner, Shard};
    use click_models::CascadeModel;
    use spec::Instances;
    use tempfile::{TempDir, tempdir};

    fn experiment(runs: u64) -> Experiment {
        let users = [0.5, 0.3].map(|best| CascadeModel::from_values(&[best, 0.2, 0.1], 2).unwrap());
        let builder = Experiment::builder("small", Instances::of(users)).horizon(50).runs(runs);
        builder.policy("cascade-ts").policy("uniform").build().unwrap()
    }

    fn played() -> (TempDir, crate::Measurement) {
        let dir = tempdir().unwrap();
        let measured = Runner::new(&experiment(5)).run_into(dir.path()).unwrap();
        (dir, measured)
    }

    fn message(dir: &Path) -> String {
        let error = FinishedResult::open(dir).map(|_| ()).unwrap_err();
        error.to_string().replace(&dir.display().to_string(), "DIR")
    }

    #[test]
    fn a_finished_directory_gives_back_result_and_runs() {
        let (dir, measured) = played();
        let finished = FinishedResult::open(dir.path()).unwrap();
        assert_eq!(finished.result, measured.result);
        assert_eq!(finished.experiment().unwrap().identity(), experiment(5).identity());
        let runs = finished.runs().unwrap();
        assert_eq!(runs.instances(), measured.runs.instances());
        assert!(runs.instances().contains(&0) && runs.instances().contains(&1));
        for policy in 0..2 {
            for quantity in [Quantity::Regret, Quantity::Clicks] {
                let all = 0..runs.n_checkpoints().unwrap();
                let columns = measured.runs.columns(policy, quantity, all.clone()).unwrap();
                assert_eq!(runs.columns(policy, quantity, all).unwrap(), columns);
            }
        }
    }

    /// A process that extends the experiment was killed: the journal has more runs than the result.
    #[test]
    fn runs_that_are_not_in_the_result_are_left_out() {
        let (dir, measured) = played();
        let (more, other) = (experiment(9), tempdir().unwrap());
        Runner::new(&more).run_into(other.path()).unwrap();
        for entry in fs::read_dir(other.path().join(JOURNAL)).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, dir.path().join(JOURNAL).join(path.file_name().unwrap())).unwrap();
        }
        let runs = FinishedResult::open(dir.path()).unwrap().runs().unwrap();
        assert_eq!(runs.n_runs(), 5);
        assert_eq!(runs.column(0, Quantity::Regret, 3).unwrap(), measured.regret(0, 3).unwrap());
    }

    #[test]
    fn a_directory_without_a_finished_result_is_refused_by_what_it_is() {
        let empty = tempdir().unwrap();
        assert!(message(empty.path()).starts_with("DIR: has no result.json"));
        assert!(
            message(&empty.path().join("missing"))
                .ends_with(": is not a directory: expected one that `simulate` has written")
        );
        for (file, found) in OTHER_DIRECTORIES {
            let dir = tempdir().unwrap();
            fs::write(dir.path().join(file), "{}").unwrap();
            assert_eq!(message(dir.path()), format!("DIR: holds {found}"));
        }
        let part = tempdir().unwrap();
        let shard: Shard = "1/2".parse().unwrap();
        Runner::new(&experiment(5)).run_part(part.path(), shard, &crate::Claim::default()).unwrap();
        assert!(message(part.path()).starts_with("DIR: holds shard 1/2 of \"small\": join"));
        let (unfinished, _) = played();
        for name in [RESULT, MANIFEST] {
            fs::remove_file(unfinished.path().join(name)).unwrap();
        }
        assert!(message(unfinished.path()).starts_with("DIR: is not finished"));
    }

    #[test]
    fn files_that_were_changed_or_removed_are_refused() {
        let (dir, _) = played();
        let path = dir.path().join(RESULT);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen("\"runs\":5", "\"runs\":6", 1)).unwrap();
        assert!(message(dir.path()).starts_with("DIR/result.json: is not the file that manifest.json lists"));
        fs::write(&path, text.replacen("cascade-ts", "\\u001b[2J", 1)).unwrap();
        assert!(message(dir.path()).starts_with("DIR/result.json: policies[0].label: "));
        fs::write(&path, &text).unwrap();
        let manifest = dir.path().join(MANIFEST);
        let listed = fs::read_to_string(&manifest).unwrap();
        fs::write(&manifest, listed.replacen("\"schema\": 1", "\"schema\": 2", 1)).unwrap();
        assert_eq!(message(dir.path()), "DIR/manifest.json: schema: 2 found: expected 1");
        fs::remove_file(&manifest).unwrap();
        assert!(message(dir.path()).starts_with("DIR/manifest.json: cannot be read"));
        fs::write(&manifest, listed).unwrap();
        // Without the experiment there is a result, but its unit and its runs are unknown.
        fs::write(dir.path().join(SPEC), "name = 1").unwrap();
        let finished = FinishedResult::open(dir.path()).unwrap();
        assert_eq!(finished.result.unit, "reward");
        assert!(finished.runs().unwrap_err().to_string().contains("spec.toml: is not the file"));
    }

    #[test]
    fn a_journal_that_lacks_runs_is_named() {
        let (dir, _) = played();
        fs::remove_dir_all(dir.path().join(JOURNAL)).unwrap();
        let error = FinishedResult::open(dir.path()).unwrap().runs().unwrap_err().to_string();
        assert!(
            error.ends_with("journal: has 0 of the 5 runs of \"cascade-ts\", so its runs cannot be shown"),
            "{error}"
        );
    }
}
