//! Arguments of several commands, and the errors of a command line that only a command can see.
//! Their exit status is that of the errors that the parser finds.

use anyhow::Error;
use clap::Args;
use documents::toml_reader::{self, Source};
use itertools::Itertools as _;
use spec::{Overrides, SpecError};
use std::io::{self, stdin};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

pub(crate) const STATUS: u8 = 2;

/// An invalid command line that the parser has accepted.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Returns [`Usage`] with a message.
macro_rules! bail_usage {
    ($($message:tt)*) => {
        return Err($crate::usage::Usage(format!($($message)*)).into())
    };
}
pub(crate) use bail_usage;

/// All errors of an experiment, at least one.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.0.iter().map(in_words).join("\nerror: "))]
pub(crate) struct SpecErrors(pub(crate) Vec<SpecError>);

impl From<toml_reader::Error> for SpecErrors {
    fn from(error: toml_reader::Error) -> Self {
        Self(error.all().into_iter().map(SpecError::File).collect())
    }
}

/// An error of an experiment. One of a value on the command line names its option.
pub(crate) fn in_words(error: &SpecError) -> String {
    match error {
        SpecError::Override(error) => {
            format!("--{} {}: {}", error.key.replace('_', "-"), error.value, error.fault)
        }
        other => other.to_string(),
    }
}

/// Reads an experiment's file; `-` is standard input, whose files are beside the current folder.
pub(crate) fn read_source(path: &Path) -> Result<Source, toml_reader::Error> {
    if path.as_os_str() != "-" {
        return Source::read(path);
    }
    let text = io::read_to_string(stdin());
    let text =
        text.map_err(|error| toml_reader::Error::whole_file("-", format!("standard input: {error}")))?;
    Source::from_text("-", text)
}

/// Returns whether an error is one of the command line.
pub(crate) fn is_at_fault(error: &Error) -> bool {
    let is_override = |errors: &SpecErrors| matches!(errors.0[..], [SpecError::Override(_), ..]);
    error.is::<Usage>() || error.downcast_ref().is_some_and(is_override)
}

pub(crate) fn integer<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let value = text.parse().ok().filter(|value| range.contains(value));
        let value = value.and_then(|value| T::try_from(value).ok());
        value.ok_or_else(|| format!("expected an integer from {} to {}", range.start(), range.end()))
    }
}

#[cfg(feature = "logs")]
pub(crate) fn number(text: &str) -> Result<f64, String> {
    let share = || text.strip_suffix('%')?.trim().parse::<f64>().ok();
    let hint = || share().map_or_else(String::new, |share| format!(": {} for {share} %", share / 100.0));
    text.parse().map_err(|_| format!("expected a number{}", hint()))
}

pub(crate) fn threads(text: &str) -> Result<u16, String> {
    integer(1..=1024)(text)
}

/// Files that an experiment may name.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AllowedArguments {
    /// Also let the experiment name files in this directory and below (repeatable). Without, those
    /// beside its file and below
    #[arg(long, value_name = "DIR", value_parser = directory)]
    pub(crate) allow: Vec<PathBuf>,
}

/// Parses the name of a directory that exists.
fn directory(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() { Ok(path) } else { Err("there is no such directory".to_owned()) }
}

/// Values that replace those of an experiment's file.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct OverrideArguments {
    /// Replace the experiment's master seed
    #[arg(long, value_name = "S", value_parser = integer::<u64>(0..=u64::MAX))]
    pub(crate) seed: Option<u64>,
    /// Replace the number of runs; those of each instance if the spec has `per-instance`
    #[arg(long, value_name = "N", value_parser = integer::<u64>(0..=u64::MAX))]
    pub(crate) runs: Option<u64>,
    /// Replace the number of rounds
    #[arg(long, value_name = "T", value_parser = integer::<u64>(0..=u64::MAX))]
    pub(crate) horizon: Option<u64>,
    /// Replace the number of rounds after which a policy that has not stopped is stopped
    #[arg(long, value_name = "T", value_parser = integer::<u64>(0..=u64::MAX))]
    pub(crate) max_steps: Option<u64>,
}

impl OverrideArguments {
    pub(crate) fn overrides(self) -> Overrides {
        let Self { seed, runs, horizon, max_steps } = self;
        Overrides { seed, runs, horizon, max_steps, subsets: None, without_policies: false }
    }
}
