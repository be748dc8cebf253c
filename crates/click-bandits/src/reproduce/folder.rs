//! The folder of a report without `--out`, named after the experiment and what is run of it.

use super::Arguments;
use anyhow::{Context as _, Result};
use std::fmt::Write as _;
use std::path::Path;

/// The name of the folder. Other data, panels, scales and shards have other names.
pub(super) fn of(arguments: &Arguments) -> Result<String> {
    let experiment = &arguments.experiment;
    let name = experiment.file_name().with_context(|| {
        format!("{}: has no name: give the report a directory with --out", experiment.display())
    })?;
    let mut folder = name.to_string_lossy().into_owned();
    for (option, file) in [("data", &arguments.data), ("matrix", &arguments.matrix)] {
        if let Some(file) = file {
            let _ = write!(folder, "-{option}-{}", plain_stem(file));
        }
    }
    if let Some(panel) = &arguments.panel {
        let _ = write!(folder, "-{panel}");
    }
    folder += &scale(arguments);
    if let Some(shard) = arguments.shard {
        let _ = write!(folder, "-shard-{}", shard.to_string().replace('/', "-"));
    }
    Ok(folder)
}

/// The part of a folder's name that distinguishes scales.
pub(super) fn scale(arguments: &Arguments) -> String {
    let mut scale = if arguments.quick { "-quick".to_owned() } else { String::new() };
    for (option, value) in [("seed", arguments.seed), ("runs", arguments.runs)] {
        if let Some(value) = value {
            let _ = write!(scale, "-{option}-{value}");
        }
    }
    scale
}

/// A file's name without its extension and without characters that are unsafe in a name.
fn plain_stem(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let is_plain = |character: &char| character.is_ascii_alphanumeric() || "-_".contains(*character);
    stem.chars().filter(is_plain).take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::CommandLine;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        line: CommandLine,
    }

    #[test]
    fn another_scale_has_another_folder() {
        let folder = |line: &str| of(&Cli::parse_from(line.split(' ')).line.arguments).unwrap();
        assert_eq!(folder("x kdd2012"), "kdd2012");
        assert_eq!(folder("x some/mine"), "mine");
        assert_eq!(folder("x kdd2012 --quick"), "kdd2012-quick");
        assert_eq!(folder("x kdd2012 --panel figure-3 --quick"), "kdd2012-figure-3-quick");
        assert_eq!(folder("x kdd2012 --seed 7 --runs 9 --threads 2"), "kdd2012-seed-7-runs-9");
        assert_eq!(folder("x kdd2012 --data some/my.queries.json --quick"), "kdd2012-data-myqueries-quick");
        assert_eq!(folder("x kdd2012 --matrix some/m.csv --shard 2/8"), "kdd2012-matrix-m-shard-2-8");
    }
}
