//! A preference matrix from interleaved comparisons of the features of a LETOR collection.
//!
//! Written to the directory:
//!
//! | file | what it holds |
//! |---|---|
//! | `preferences.csv` | the matrix, a line a row |
//! | `counts.csv` | a row a pair of features, by their numbers in the file: comparisons won by either, ties, the estimate and its interval |
//! | `progress.json` | the pairs that are done, while the others are being compared and afterwards |
//! | `manifest.json` | collection with its SHA-256, interleaving, user, comparisons and seed, and the SHA-256 of the files |
//!
//! Killed and started again, it goes on with the pairs that are left, and gives the same bytes: every pair has random numbers of its own.
//! A directory with files of others, or with the progress of other rankings or settings, is refused, and so is one where another run is
//! under way.

use super::sampling::pairs;
use crate::progress::Progress as Display;
use anyhow::{Context as _, Result};
use clap::ValueEnum;
use experiment::hexadecimal;
use experiment::interrupt;
use experiment::manifest::Moment;
use experiment::models::MatrixFile;
use experiment::number;
use experiment::output::OutputDir;
use interleaving::{
    Estimation, Method, Preferences, Progress, Query, RankedCollection, ScanningUser, Settings, Synthetic,
    letor,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// How a matrix is estimated.
#[derive(Debug, Clone, PartialEq, Eq, Default, clap::Args)]
pub(crate) struct EstimateArguments {
    /// How two rankings become one list [default: probabilistic]
    #[arg(long, value_enum)]
    interleaving: Option<Interleaving>,
    /// Who clicks [default: navigational]
    #[arg(long, value_enum)]
    user: Option<User>,
    /// Comparisons of each pair of rankers [default: 4000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    comparisons: Option<u64>,
    /// Documents of a list [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    list_length: Option<u16>,
    /// Seed of clicks, interleavings and ties [default: 1]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Interleaving {
    #[default]
    Probabilistic,
    TeamDraft,
    Balanced,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum User {
    Perfect,
    #[default]
    Navigational,
    Informational,
}

impl EstimateArguments {
    fn settings(&self) -> Settings {
        let usual = Settings::default();
        Settings {
            method: match self.interleaving.unwrap_or_default() {
                Interleaving::Probabilistic => Method::Probabilistic,
                Interleaving::TeamDraft => Method::TeamDraft,
                Interleaving::Balanced => Method::Balanced,
            },
            user: match self.user.unwrap_or_default() {
                User::Perfect => ScanningUser::perfect(),
                User::Navigational => ScanningUser::navigational(),
                User::Informational => ScanningUser::informational(),
            },
            comparisons_per_pair: self.comparisons.unwrap_or(usual.comparisons_per_pair),
            list_length: self.list_length.map_or(usual.list_length, usize::from),
            seed: self.seed.unwrap_or(usual.seed),
        }
    }
}

/// Pairs that are compared between two looks at what is done.
const PAIRS_AT_ONCE: usize = 64;
/// The state.
const PROGRESS: &str = "progress.json";
/// The estimate.
const MATRIX: &str = "preferences.csv";
/// The comparisons that it was made from.
const COUNTS: &str = "counts.csv";

/// A matrix that was estimated, and the directory that it belongs in.
#[derive(Debug)]
pub(crate) struct Estimate {
    file: MatrixFile,
    preferences: Preferences,
    output: OutputDir,
    canonical: Value,
    started: Moment,
    threads: usize,
}

impl Estimate {
    /// Estimates the matrix of the collection in a file, or of the synthetic one; what is done is kept in `out` while it is not complete.
    ///
    /// # Errors
    ///
    /// A collection that cannot be read, or with which nothing can be compared; a directory of something else, or in use.
    pub(crate) fn make(
        collection: Option<&Path>,
        arguments: &EstimateArguments,
        out: &Path,
        threads: Option<usize>,
        quiet: bool,
    ) -> Result<Self> {
        let started = Moment::now();
        let settings = arguments.settings();
        let canonical = canonical(collection, arguments, &settings)?;
        let output = super::claimed(out, &canonical, &[MATRIX, COUNTS])?;
        let queries = match collection {
            Some(file) => letor::read_file(file)?,
            None => Synthetic::default().queries()?,
        };
        let n_features = queries.iter().map(Query::n_features).max().unwrap_or(0);
        let features: Vec<usize> = (0..n_features).collect();
        let pool = super::pool(threads)?;
        let rankers = pool.install(|| RankedCollection::by_features(&queries, &features, settings.seed))?;
        let estimation = Estimation::new(&rankers, settings)?;

        let lock = output.lock()?;
        let mut progress = resumed(&estimation, out)?;
        let all = progress.n_pairs();
        let kept = |left: usize| {
            let (done, all) = (number::grouped((all - left) as u64), number::counted(all as u64, "pair"));
            let file = out.join(PROGRESS);
            format!("{done} of {all} are kept in {}: the same command goes on from there", file.display())
        };
        let mut left = progress.remaining();
        if left < all {
            interrupt::hold().begun(kept(left));
        }
        let display = Display::start("preferences", left as u64, "pairs", quiet);
        while left > 0 {
            let remaining = pool.install(|| estimation.advance(&mut progress, PAIRS_AT_ONCE))?;
            let state = serde_json::to_vec(&progress).context("the progress cannot be written")?;
            output.write_progress(PROGRESS, &state, kept(remaining))?;
            display.add((left - remaining) as u64);
            left = remaining;
        }
        drop((display, lock));
        let preferences = progress.preferences().context("a pair was left out")?;
        let file = MatrixFile::of(&out.join(MATRIX), matrix(&preferences).as_bytes())?;
        Ok(Self { file, preferences, output, canonical, started, threads: pool.current_num_threads() })
    }

    /// The matrix.
    pub(super) fn file(&self) -> &MatrixFile {
        &self.file
    }

    /// The matrix.
    pub(crate) fn into_file(self) -> MatrixFile {
        self.file
    }

    /// The comparisons.
    pub(super) fn preferences(&self) -> &Preferences {
        &self.preferences
    }

    /// Writes matrix, comparisons, and `more` files.
    ///
    /// # Errors
    ///
    /// They cannot be written.
    pub(crate) fn write(&self, more: &[(&str, &[u8])]) -> Result<()> {
        let (counts, matrix) = (counts(&self.preferences)?, matrix(&self.preferences));
        let own: [(&str, &[u8]); 2] = [(COUNTS, counts.as_bytes()), (MATRIX, matrix.as_bytes())];
        super::write(&self.output, &self.canonical, self.started, self.threads, &[&own, more].concat())
    }
}

/// What the estimate depends on, for the manifest.
fn canonical(collection: Option<&Path>, arguments: &EstimateArguments, settings: &Settings) -> Result<Value> {
    let (name, digest) = match collection {
        Some(file) => (super::file_name(file), Some(digest(file)?)),
        None => ("the synthetic collection".to_owned(), None),
    };
    Ok(json!({
        "name": format!("preferences in {name}"),
        "collection": digest,
        "interleaving": value_name(arguments.interleaving),
        "user": value_name(arguments.user),
        "comparisons": settings.comparisons_per_pair,
        "list_length": settings.list_length,
        "seed": settings.seed,
    }))
}

/// What an option's value is called on the command line.
fn value_name<T: ValueEnum + Default>(value: Option<T>) -> Option<String> {
    Some(value.unwrap_or_default().to_possible_value()?.get_name().to_owned())
}

/// SHA-256 of a file, in hexadecimal.
fn digest(file: &Path) -> Result<String> {
    let mut hash = Sha256::new();
    let hashed = File::open(file).and_then(|mut file| io::copy(&mut file, &mut hash));
    hashed.with_context(|| format!("{}: cannot be read", file.display()))?;
    Ok(hexadecimal(&hash.finalize()))
}

/// What is done already.
fn resumed(estimation: &Estimation<'_>, out: &Path) -> Result<Progress> {
    let file = out.join(PROGRESS);
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(estimation.start()),
        Err(error) => return Err(error).with_context(|| format!("{}: cannot be read", file.display())),
    };
    let help = || {
        format!(
            "{}: is not the progress of this estimation: give another --out, or delete it",
            file.display()
        )
    };
    let progress: Progress = serde_json::from_slice(&bytes).with_context(help)?;
    estimation.check(&progress).with_context(help)?;
    Ok(progress)
}

/// The matrix as text.
fn matrix(preferences: &Preferences) -> String {
    let row = |row: &Vec<f64>| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
    preferences.matrix().iter().map(row).collect()
}

/// The outcomes as text, with intervals that hold at once.
fn counts(preferences: &Preferences) -> Result<String> {
    let mut text = "first,second,won_by_first,won_by_second,ties,estimate,lower,upper\n".to_owned();
    for pair in pairs(preferences)? {
        let tally = preferences.tally(pair.first, pair.second);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{:.6},{:.6}",
            pair.first + 1,
            pair.second + 1,
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
