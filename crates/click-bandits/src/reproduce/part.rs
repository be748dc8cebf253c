//! Parts of a reproduction: a shard of every simulation, and a file with the hashes of experiment,
//! claims and data, which `merge` compares.

use super::Arguments;
use crate::embedded::{Place, bare_name};
use crate::program::program;
use crate::terminal::json;
use crate::usage::AllowedArguments;
use anyhow::{Context as _, Result, bail};
use documents::{TemporaryFile, read_own, sha256};
use experiment::output::MANIFEST;
use experiment::{PART, Shard};
use report::report_dir::{CLAIMS, Owner};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// The content of `part.json` in the directory of a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartOfReproduction {
    reproduction: String,
    program: String,
    shard: String,
    /// Whose report the parts become: options, and hashes of the data.
    owner: Owner,
    /// SHA-256 of `experiment.toml` and `claims.toml`.
    experiment_sha256: String,
    claims_sha256: String,
    /// The paths of the command line.
    experiment: PathBuf,
    data: Option<PathBuf>,
    matrix: Option<PathBuf>,
}

impl PartOfReproduction {
    /// The description of a part that is run with these arguments.
    pub(super) fn new(arguments: &Arguments, owner: &Owner, shard: Shard) -> Result<Self> {
        let hash = |name: &str| hash_of(&arguments.experiment, name);
        Ok(Self {
            reproduction: owner.experiment.clone(),
            program: program().results(),
            shard: shard.to_string(),
            owner: owner.clone(),
            experiment_sha256: hash("experiment.toml")?,
            claims_sha256: hash("claims.toml")?,
            experiment: arguments.experiment.clone(),
            data: arguments.data.clone(),
            matrix: arguments.matrix.clone(),
        })
    }

    /// Reads the description in a directory; `None` if it does not have a part of a reproduction.
    pub(crate) fn read(dir: &Path) -> Result<Option<Self>> {
        let path = dir.join(PART);
        if !path.exists() {
            return Ok(None);
        }
        let bytes = read_own(&path).with_context(|| path.display().to_string())?;
        let value: serde_json::Value =
            serde_json::from_slice(&bytes).with_context(|| format!("{}: is not JSON", path.display()))?;
        if value.get("reproduction").is_none() {
            return Ok(None);
        }
        let part = serde_json::from_value(value);
        part.map(Some).with_context(|| format!("{}: is not a part of a reproduction", path.display()))
    }

    /// Refuses a directory with a report or another part.
    pub(super) fn check(&self, out: &Path, fresh: bool) -> Result<()> {
        if out.join(PART).exists() && Self::read(out)?.is_none() {
            bail!("{}: holds a part of a single experiment: give another --out", out.display());
        }
        if out.join(CLAIMS).exists() {
            bail!(
                "{}: has a whole report, and so cannot hold shard {}: give another --out",
                out.display(),
                self.shard
            );
        }
        match Self::read(out)? {
            // As in a single experiment, another shard is replaced, and one of another program.
            Some(found) if found.owner != self.owner || !(fresh || found.is_same(self)) => bail!(
                "{}: holds shard {} of {}, with other settings or of another program: give another --out",
                out.display(),
                found.shard,
                found.owner.words()
            ),
            _ => Ok(()),
        }
    }

    /// Returns whether a part is the same, wherever its files are.
    fn is_same(&self, other: &Self) -> bool {
        self.shard == other.shard && self.fits(other)
    }

    /// Returns whether two parts are of one reproduction.
    fn fits(&self, other: &Self) -> bool {
        (&self.owner, &self.program) == (&other.owner, &other.program)
            && self.experiment_sha256 == other.experiment_sha256
            && self.claims_sha256 == other.claims_sha256
    }

    /// Refuses a directory with a part where a whole report is to be written.
    pub(super) fn refuse(out: &Path) -> Result<()> {
        if out.join(MANIFEST).exists() || (out.join(PART).exists() && Self::read(out)?.is_none()) {
            bail!("{}: holds a single experiment, or a part of one: give another --out", out.display());
        }
        match Self::read(out)? {
            Some(part) => bail!(
                "{}: holds shard {} of {}: join it with `click-bandits merge`, or give another --out",
                out.display(),
                part.shard,
                part.owner.words()
            ),
            _ => Ok(()),
        }
    }

    pub(super) fn write(&self, out: &Path) -> Result<()> {
        let path = out.join(PART);
        let text = json(self)?;
        let write = || {
            fs::create_dir_all(out)?;
            TemporaryFile::write(&path, text.as_bytes())?.rename()
        };
        write().with_context(|| format!("{}: cannot be written", path.display()))
    }

    /// The arguments of the whole reproduction. `experiment` and `data` replace the paths of the
    /// part.
    pub(crate) fn arguments(
        &self,
        experiment: Option<&Path>,
        data: Option<&Path>,
        out: &Path,
        allowed: AllowedArguments,
    ) -> Result<Arguments> {
        let given = |recorded: &Path, named: Option<&Path>, option: &str| match named {
            Some(named) => Ok(named.to_owned()),
            None if bare_name(recorded).is_some() && option == "--experiment" => Ok(recorded.to_owned()),
            None => may_be_read(recorded, &allowed, option).map(|()| recorded.to_owned()),
        };
        let file = |recorded: &Option<PathBuf>| {
            recorded.as_deref().map(|recorded| given(recorded, data, "--data")).transpose()
        };
        Ok(Arguments {
            experiment: given(&self.experiment, experiment, "--experiment")?,
            data: file(&self.data)?,
            matrix: file(&self.matrix)?,
            out: out.to_owned(),
            quick: self.owner.quick,
            panel: self.owner.panel.clone(),
            seed: self.owner.seed,
            runs: self.owner.runs,
            allowed,
            ..Arguments::default()
        })
    }

    /// Checks that the experiment and the data are those of the part in `dir`.
    pub(super) fn check_inputs(&self, dir: &Path, arguments: &Arguments, owner: &Owner) -> Result<()> {
        let directory = &arguments.experiment;
        for (name, expected) in
            [("experiment.toml", &self.experiment_sha256), ("claims.toml", &self.claims_sha256)]
        {
            if hash_of(directory, name)? != *expected {
                let file = directory.join(name);
                bail!("{}: has changed since {} was played", file.display(), dir.display());
            }
        }
        if self.program != program().results() {
            bail!(
                "{}: was played by {}, this program is {}",
                dir.display(),
                self.program,
                program().results()
            );
        }
        if self.owner != *owner {
            bail!("{}: is a part of {}, but this is {}", dir.display(), self.owner.words(), owner.words());
        }
        Ok(())
    }
}

/// Checks that the directories hold parts of one reproduction.
pub(super) fn check_all(first: &PartOfReproduction, dirs: &[PathBuf]) -> Result<()> {
    for dir in dirs {
        let part = PartOfReproduction::read(dir)?
            .with_context(|| format!("{}: has no part of a reproduction ({PART})", dir.display()))?;
        if !first.fits(&part) {
            bail!(
                "{}: is a part of {}, with other files or another program than {}, which is a part of {}",
                dir.display(),
                part.owner.words(),
                dirs[0].display(),
                first.owner.words()
            );
        }
    }
    Ok(())
}

/// Refuses a file that a part names, unless it is in the working directory, below it, or allowed.
fn may_be_read(recorded: &Path, allowed: &AllowedArguments, option: &str) -> Result<()> {
    let cannot = || format!("{}: cannot be read: name it with {option}", recorded.display());
    let found = recorded.canonicalize().with_context(cannot)?;
    let here = [PathBuf::from(".")];
    let is_in = |root: &PathBuf| root.canonicalize().is_ok_and(|root| found.starts_with(root));
    if here.iter().chain(&allowed.allow).any(is_in) {
        return Ok(());
    }
    bail!(
        "{PART}: {}: is outside of the working directory: name it with {option}, or its directory with --allow",
        recorded.display()
    )
}

fn hash_of(experiment: &Path, name: &str) -> Result<String> {
    let place = Place::of(experiment)?;
    if let Place::Program(embedded) = place {
        return Ok(sha256(embedded.text(name).unwrap_or_default().as_bytes()));
    }
    let file = experiment.join(name);
    let content = fs::read(&file).with_context(|| {
        format!(
            "{}: cannot be read: `merge` takes the experiment's directory with --experiment",
            file.display()
        )
    })?;
    Ok(sha256(&content))
}
