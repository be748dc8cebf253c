//! `click-bandits schema`: prints the JSON Schema of an experiment's file.

use crate::terminal;
use anyhow::Result;

#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Arguments {
    /// Which file
    #[arg(value_enum, default_value_t = File::Spec)]
    file: File,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum File {
    /// The experiment that `simulate` runs
    Spec,
    /// experiment.toml of a directory that `reproduce` runs
    Experiment,
    /// claims.toml of such a directory
    Claims,
}

pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let schema = match arguments.file {
        File::Spec => spec::schema::spec(),
        File::Experiment => experiment_with_log(),
        File::Claims => report::schema::claims(),
    };
    terminal::put(&terminal::json(&schema)?)
}

/// The schema of experiment.toml. A program that reads click logs knows the keys of `[log]`.
fn experiment_with_log() -> serde_json::Value {
    #[cfg_attr(not(feature = "logs"), expect(unused_mut, reason = "nothing is added"))]
    let mut schema = report::schema::experiment();
    #[cfg(feature = "logs")]
    {
        schema["properties"]["log"] = crate::reproduce::schema_of_log();
    }
    schema
}
