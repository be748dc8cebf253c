//! The experiments of the papers, which are part of the program.
//!
//! The build script lists them: every folder of `xtask/experiments` with an `experiment.toml`.

use crate::usage::bail_usage;
use anyhow::Result;
use documents::toml_reader::{EmbeddedFile, Error, Source, closest};
use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EmbeddedExperiment {
    /// Its name, that of its folder.
    pub(crate) name: &'static str,
    pub(crate) files: &'static [EmbeddedFile],
}

/// All of them, in the order of their names.
pub(crate) static EXPERIMENTS: &[EmbeddedExperiment] = include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

/// The name that stands for all of them.
pub(crate) const ALL: &str = "all";

impl EmbeddedExperiment {
    pub(crate) fn find(name: &str) -> Result<&'static Self> {
        if let Some(found) = EXPERIMENTS.iter().find(|experiment| experiment.name == name) {
            return Ok(found);
        }
        let names: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name).collect();
        let nearest =
            closest(name, &names).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        // A folder could be meant, which was accepted before experiments were part of the program.
        let folder = if Path::new(name).is_dir() {
            format!("; the directory of this name is `./{name}`")
        } else {
            String::new()
        };
        bail_usage!("unknown experiment {name:?}: {nearest}known: {}{folder}", names.join(", "))
    }

    pub(crate) fn source(&self, file: &str) -> Result<Source, Error> {
        let path = format!("{}/{file}", self.name);
        match self.text(file) {
            Some(text) => Ok(Source::from_text(path, text)?.among(self.files)),
            None => Err(Error::whole_file(&path, "is not among the files of the program")),
        }
    }

    /// The text of one of its files; `None` if it has no such file.
    pub(crate) fn text(&self, file: &str) -> Option<&'static str> {
        let (_, content) = self.files.iter().find(|(name, _)| *name == file)?;
        std::str::from_utf8(content).ok()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Directory(PathBuf),
    Program(&'static EmbeddedExperiment),
}

impl Place {
    /// A directory if the argument has a separator or is `.` or `..`, otherwise an experiment of
    /// the program.
    pub(crate) fn of(argument: &Path) -> Result<Self> {
        match bare_name(argument) {
            Some(name) => Ok(Self::Program(EmbeddedExperiment::find(&name)?)),
            None => Ok(Self::Directory(argument.to_owned())),
        }
    }

    /// Reads a file of the experiment, which may name files in the allowed folders.
    pub(crate) fn source(&self, file: &str, allowed: &[PathBuf]) -> Result<Source, Error> {
        match self {
            Self::Directory(directory) => Source::read_in(directory, file, allowed),
            Self::Program(embedded) => embedded.source(file),
        }
    }
}

/// The text of an argument without a separator, which names an experiment of the program.
pub(crate) fn bare_name(argument: &Path) -> Option<Cow<'_, str>> {
    let text = argument.to_string_lossy();
    let mut components = argument.components();
    let is_bare = matches!(components.next(), Some(Component::Normal(_))) && components.next().is_none();
    (is_bare && !text.contains(std::path::is_separator)).then_some(text)
}
