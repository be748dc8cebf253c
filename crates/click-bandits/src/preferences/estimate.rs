//! Estimates a preference matrix from interleaved comparisons of the features of a LETOR
//! collection: `preferences.csv`, and `counts.csv` with the intervals of pairs.

use super::page::MatrixReport;
use super::sampling::pairs;
use super::{Arguments, PAGE, REPORT};
use crate::output::Output;
use crate::progress::Progress;
use crate::usage::integer;
use anyhow::{Context as _, Result};
use documents::sha256_of_file;
use experiment::manifest::Moment;
use interleaving::{
    Estimation, Method, Preferences, Query, RankedCollection, ScanningUser, Settings, Synthetic, letor,
};
use serde_json::{Value, json};
use spec::models::MatrixFile;
use std::fmt::Write as _;
use std::path::Path;

/// The options for estimating a matrix.
#[derive(Debug, Clone, PartialEq, Eq, Default, clap::Args)]
pub(crate) struct EstimateArguments {
    /// Method that makes one list of two rankings [default: probabilistic]
    #[arg(long, value_parser = ["probabilistic", "team-draft", "balanced"])]
    interleaving: Option<String>,
    /// Click behaviour of the simulated user [default: navigational]
    #[arg(long, value_parser = ["perfect", "navigational", "informational"])]
    user: Option<String>,
    /// Number of comparisons of each pair of rankers [default: 4000]
    #[arg(long, value_name = "N", value_parser = integer::<u64>(1..=1 << 40))]
    comparisons: Option<u64>,
    /// Number of documents of a list [default: 10]
    #[arg(long, value_name = "N", value_parser = integer::<u16>(1..=64))]
    list_length: Option<u16>,
    /// Seed of clicks, interleaving and ties [default: 1]
    #[arg(long, value_name = "S", value_parser = integer::<u64>(0..=u64::MAX))]
    seed: Option<u64>,
}

impl EstimateArguments {
    fn settings(&self) -> Settings {
        let usual = Settings::default();
        Settings {
            method: match self.interleaving.as_deref() {
                Some("team-draft") => Method::TeamDraft,
                Some("balanced") => Method::Balanced,
                _ => Method::Probabilistic,
            },
            user: match self.user.as_deref() {
                Some("perfect") => ScanningUser::perfect(),
                Some("informational") => ScanningUser::informational(),
                _ => ScanningUser::navigational(),
            },
            comparisons_per_pair: self.comparisons.unwrap_or(usual.comparisons_per_pair),
            list_length: self.list_length.map_or(usual.list_length, usize::from),
            seed: self.seed.unwrap_or(usual.seed),
        }
    }
}

const MATRIX: &str = "preferences.csv";
/// The comparisons that it was made from.
const COUNTS: &str = "counts.csv";

/// Estimates the matrix of a collection, by default the synthetic one. Writes it with its
/// comparisons and its report.
pub(super) fn estimate(arguments: &Arguments, out: &Path) -> Result<MatrixReport> {
    let started = Moment::now();
    let (settings, collection) = (arguments.estimate.settings(), arguments.letor.as_deref());
    let canonical = canonical(collection, &arguments.estimate, &settings)?;
    let output = Output::claim(out, &canonical, started, &[REPORT, PAGE, MATRIX, COUNTS], &[])?;
    let queries = match collection {
        Some(file) => letor::read_file(file)?,
        None => Synthetic::default().queries()?,
    };
    let features = Query::listed_features(&queries);
    let builder = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads.map_or(0, usize::from));
    let pool = builder.build().context("starting the threads")?;
    let rankers = pool.install(|| RankedCollection::by_features(&queries, &features, settings.seed))?;
    let estimation = Estimation::new(&rankers, settings)?;
    let display = Progress::start("preferences", estimation.n_pairs() as u64, "pairs", arguments.quiet);
    let preferences = pool.install(|| estimation.preferences(|| display.add(1)));
    drop(display);
    let (counts, matrix) = (counts(&preferences, &features)?, matrix(&preferences));
    let file = MatrixFile::of(&out.join(MATRIX), matrix.as_bytes())?;
    let numbers = features.iter().map(|feature| feature + 1).collect();
    let report = MatrixReport::of(&file, Some((&preferences, numbers)), arguments.quiet)?;
    let own = [(COUNTS, counts.as_bytes()), (MATRIX, matrix.as_bytes())];
    super::write(&output, pool.current_num_threads(), &report, &own)?;
    Ok(report)
}

/// The settings that the estimate depends on, for the manifest.
fn canonical(collection: Option<&Path>, arguments: &EstimateArguments, settings: &Settings) -> Result<Value> {
    let (name, digest) = match collection {
        Some(file) => (file.file_name().unwrap_or_default().to_string_lossy(), Some(digest(file)?)),
        None => ("the synthetic collection".into(), None),
    };
    Ok(json!({
        "name": format!("preferences in {name}"),
        "collection": digest,
        "interleaving": arguments.interleaving.as_deref().unwrap_or("probabilistic"),
        "user": arguments.user.as_deref().unwrap_or("navigational"),
        "comparisons": settings.comparisons_per_pair,
        "list_length": settings.list_length,
        "seed": settings.seed,
    }))
}

/// SHA-256 of a file, in hexadecimal.
fn digest(file: &Path) -> Result<String> {
    sha256_of_file(file).with_context(|| format!("{}: cannot be read", file.display()))
}

fn matrix(preferences: &Preferences) -> String {
    let row = |row: &Vec<f64>| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
    preferences.matrix().iter().map(row).collect()
}

fn counts(preferences: &Preferences, features: &[usize]) -> Result<String> {
    let mut text = "first,second,won_by_first,won_by_second,ties,estimate,lower,upper\n".to_owned();
    for pair in pairs(preferences)? {
        let tally = preferences.tally(pair.first, pair.second);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{:.6},{:.6}",
            features[pair.first] + 1,
            features[pair.second] + 1,
            tally.first,
            tally.second,
            tally.ties,
            pair.estimate,
            pair.lower,
            pair.upper
        );
    }
    Ok(text)
}
