//! Parts of an experiment: a contiguous range of its runs, played in a directory of its own,
//! perhaps on another machine.
//!
//! A part has a journal, the experiment's file and `part.json`, and no result. `merge` joins parts
//! that are disjoint and complete.

use crate::journal::{FileHead, JOURNAL, JournalError, JournalFile, runs_path};
use crate::output::{MANIFEST, RESULT, SPEC};
use crate::path_error::PathError;
use crate::run_error::RunError;
use crate::runs::{Layout, Sequence};
use documents::{is_link, read_own, sha256};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The file that describes a part.
pub const PART: &str = "part.json";

/// The content of `part.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartFile {
    /// Version of this layout.
    pub(crate) schema: u32,
    pub(crate) name: String,
    pub(crate) program: String,
    /// The share, as `2/8`.
    pub(crate) shard: String,
    /// Runs of the whole experiment.
    pub(crate) runs: u64,
    /// The first run of the part, counted from 0.
    pub(crate) first: u64,
    /// The run after the last one.
    pub(crate) end: u64,
    /// SHA-256 of the canonical form of the whole experiment.
    pub(crate) identity: String,
    pub(crate) base: String,
    /// SHA-256 of every policy, by its label.
    pub(crate) policies: BTreeMap<String, String>,
}

impl PartFile {
    pub(crate) const SCHEMA: u32 = 1;

    /// The description of the part in `dir`; `None` if there is none.
    pub(crate) fn read(dir: &Path) -> Result<Option<Self>, PathError> {
        let bytes = match read_own(&dir.join(PART)) {
            Ok(bytes) => bytes,
            Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => {
                return Ok(None);
            }
            Err(error) => return Err(not_a_part(dir, &format!("{PART}: {error}"))),
        };
        let fault = |error: serde_json::Error| not_a_part(dir, &format!("{PART}: {error}"));
        let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(fault)?;
        if value.get("reproduction").is_some() {
            return Err(not_a_part(dir, "it is a part of a reproduction"));
        }
        let part: Self = serde_json::from_value(value).map_err(fault)?;
        if part.schema != Self::SCHEMA {
            return Err(not_a_part(
                dir,
                &format!("version {} of {PART}, expected {}", part.schema, Self::SCHEMA),
            ));
        }
        if part.first > part.end || part.end > part.runs {
            let (first, end, runs) = (part.first, part.end, part.runs);
            return Err(not_a_part(dir, &format!("{PART}: runs from {first} to {end} of {runs}")));
        }
        Ok(Some(part))
    }

    /// Checks that `dir` may hold this part, for which files of these names will be written.
    /// `fresh`: whether it may replace another part of the same experiment.
    pub(crate) fn check(&self, dir: &Path, names: &[&str], fresh: bool) -> Result<(), PathError> {
        if dir.join(RESULT).exists() || dir.join(MANIFEST).exists() {
            let shard = &self.shard;
            let fault =
                format!("has a whole result, and so cannot hold shard {shard}: give another directory");
            return Err(PathError::new(dir, fault));
        }
        match Self::read(dir)? {
            None => {
                match names.iter().map(|name| dir.join(name)).find(|path| path.symlink_metadata().is_ok()) {
                    Some(path) => {
                        let fault =
                            "is in the way and not of a part: give another directory, or move the file";
                        Err(PathError::new(path, fault))
                    }
                    None => Ok(()),
                }
            }
            Some(found) if fresh && found.base == self.base => Ok(()),
            Some(found) if found != *self => {
                let found = self
                    .difference(&found)
                    .unwrap_or_else(|| format!("shard {} of {:?}", found.shard, found.name));
                Err(PathError::new(dir, format!("holds another part ({found}): give another directory")))
            }
            _ => Ok(()),
        }
    }

    /// How the experiment of another part differs from this one's.
    fn difference(&self, other: &Self) -> Option<String> {
        if self.name != other.name {
            return Some(format!("its experiment is {:?}, not {:?}", other.name, self.name));
        }
        if self.program != other.program {
            return Some(format!("played by {}, not by {}", other.program, self.program));
        }
        if self.base != other.base {
            return Some("users, horizon, seed or other settings differ".to_owned());
        }
        if self.runs != other.runs {
            return Some(format!("the experiment has {} runs, not {}", other.runs, self.runs));
        }
        let changed = self.policies.iter().find(|(label, hash)| other.policies.get(*label) != Some(*hash));
        let added = other.policies.keys().find(|label| !self.policies.contains_key(*label));
        if let Some(label) = changed.map(|(label, _)| label).or(added) {
            return Some(format!("policy {label:?} differs"));
        }
        (self.identity != other.identity).then(|| "the policies have another order".to_owned())
    }
}

fn not_a_part(dir: &Path, fault: &str) -> PathError {
    PathError::new(dir, format!("is not a part of an experiment: {fault}"))
}

/// Parts of one experiment that are disjoint, complete and finished.
#[derive(Debug, Clone)]
pub struct Parts {
    parts: Vec<(PathBuf, PartFile)>,
}

impl Parts {
    /// Reads the parts in these directories, in any order.
    ///
    /// # Errors
    ///
    /// A directory is not a part; parts of different experiments; runs in two parts, or in none.
    pub fn read(dirs: &[PathBuf]) -> Result<Self, PathError> {
        let mut parts: Vec<(PathBuf, PartFile)> = Vec::new();
        for dir in dirs {
            let file = PartFile::read(dir)?.ok_or_else(|| not_a_part(dir, &format!("it has no {PART}")))?;
            if let Some((first, expected)) = parts.first()
                && let Some(difference) = expected.difference(&file)
            {
                let first = first.display();
                let fault = format!("is a part of another experiment than {first}: {difference}");
                return Err(PathError::new(dir, fault));
            }
            if let Some(name) = [SPEC, JOURNAL].into_iter().find(|name| is_link(&dir.join(name))) {
                return Err(not_a_part(dir, &format!("{name} is a link")));
            }
            parts.push((dir.clone(), file));
        }
        parts.sort_by_key(|(_, part)| (part.first, part.end));
        let mut next: Option<&(PathBuf, PartFile)> = None;
        let mut end = 0;
        let missing = |(dir, part): &(PathBuf, PartFile), first: u64, end: u64| {
            let (first, name) = (first + 1, &part.name);
            let fault = format!("runs {first} to {end} of {name:?} are in none of the parts");
            PathError::new(dir, fault)
        };
        for one in parts.iter().filter(|(_, part)| part.first < part.end) {
            let (dir, part) = one;
            if part.first < end
                && let Some((other, other_part)) = next
            {
                return Err(PathError::new(
                    dir,
                    format!(
                        "shard {} and shard {} in {} both have run {}: leave one of them out",
                        part.shard,
                        other_part.shard,
                        other.display(),
                        part.first + 1
                    ),
                ));
            }
            if part.first > end {
                return Err(missing(one, end, part.first));
            }
            (end, next) = (part.end, Some(one));
        }
        match parts.first() {
            Some(one) if end < one.1.runs => Err(missing(one, end, one.1.runs)),
            _ => Ok(Self { parts }),
        }
    }

    /// The directory of the first part, which has a copy of the experiment's file.
    pub fn first(&self) -> Option<&Path> {
        self.parts.first().map(|(dir, _)| dir.as_path())
    }

    /// Checks that they are parts of the experiment with this identity, and played by this program.
    pub(crate) fn check(&self, identity: &str, program: &str) -> Result<(), PathError> {
        for (dir, part) in &self.parts {
            if part.program != program {
                let fault = format!("it was played by {}, this program is {program}", part.program);
                return Err(not_a_part(dir, &fault));
            }
            if part.identity != identity {
                return Err(not_a_part(
                    dir,
                    &format!("{PART} and the experiment's file contradict each other"),
                ));
            }
        }
        Ok(())
    }

    /// Refuses the directory of a part as the directory of the result.
    pub(crate) fn refuse_as_result(&self, out: &Path) -> Result<(), PathError> {
        let same = |dir: &Path| Some(dir.canonicalize().ok()? == out.canonicalize().ok()?);
        match self.parts.iter().find(|(dir, _)| same(dir) == Some(true)) {
            Some((dir, _)) => Err(PathError::new(dir, "is one of the parts: give another directory")),
            None => Ok(()),
        }
    }

    /// Calls `each` for the record of every run, with the index of its policy among these heads,
    /// and checks that no run is missing. One part is open and locked at a time, since there may be
    /// more of them than a process can have files.
    pub(crate) fn visit(
        &self,
        heads: &[FileHead],
        layout: Layout,
        mut each: impl FnMut(usize, &[u8]) -> Result<(), JournalError>,
    ) -> Result<(), RunError> {
        for (dir, part) in &self.parts {
            let _lock = crate::journal::lock(&dir.join(JOURNAL))?;
            for (policy, head) in heads.iter().enumerate() {
                visit(dir, part, head, layout, |content| each(policy, content))?;
            }
        }
        Ok(())
    }
}

/// Calls `each` for the record of every run of a policy in a part, and checks that all are there.
fn visit(
    dir: &Path,
    part: &PartFile,
    head: &FileHead,
    layout: Layout,
    mut each: impl FnMut(&[u8]) -> Result<(), JournalError>,
) -> Result<(), RunError> {
    // The hashes of the part's own description are no names of files.
    let path = runs_path(&dir.join(JOURNAL), &sha256(head.policy.as_bytes()));
    let n_runs = usize::try_from(part.end - part.first).unwrap_or(usize::MAX);
    let mut sequence = Sequence::in_memory(layout, part.first, n_runs);
    let mut failed = None;
    if path.exists() {
        JournalFile::open_to_read(&path, head, layout.longest(), |place, content| {
            sequence.add(place, content)?;
            if failed.is_none() {
                failed = each(content).err();
            }
            Ok(())
        })?;
    }
    if let Some(error) = failed {
        return Err(error.into());
    }
    if sequence.n_missing() > 0 {
        let (missing, label, shard) = (sequence.n_missing(), &head.label, &part.shard);
        let fault = format!("{missing} of {n_runs} runs of {label:?} are missing: run shard {shard} again");
        return Err(PathError::new(dir, fault).into());
    }
    Ok(())
}
