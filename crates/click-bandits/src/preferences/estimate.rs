//! Estimates a preference matrix from interleaved comparisons of the features of a LETOR
//! collection: `preferences.csv`, `counts.csv` with the intervals of pairs, and `progress.json`.
//!
//! A run that was killed continues with the remaining pairs, and gives the same bytes, since every
//! pair has random numbers of its own. A directory is refused if it has foreign files, the progress
//! of other rankings or settings, or a run in progress.

use super::sampling::pairs;
use crate::progress::Progress as Display;
use crate::usage::integer;
use anyhow::{Context as _, Result};
use experiment::interrupt;
use experiment::manifest::Moment;
use experiment::models::MatrixFile;
use experiment::number;
use experiment::output::OutputDir;
use experiment::{hexadecimal, open_regular, read_own};
use interleaving::{
    Estimation, Method, Preferences, Progress, Query, RankedCollection, ScanningUser, Settings, Synthetic,
    letor,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::io;
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

/// The number of pairs that are compared between two writes of the progress.
const PAIRS_AT_ONCE: usize = 64;
/// The progress of an estimation.
const PROGRESS: &str = "progress.json";
const MATRIX: &str = "preferences.csv";
/// The comparisons that it was made from.
const COUNTS: &str = "counts.csv";

/// An estimated matrix, and the directory for it.
#[derive(Debug)]
pub(crate) struct EstimatedMatrix {
    file: MatrixFile,
    preferences: Preferences,
    /// The feature of each row, from 0.
    features: Vec<usize>,
    output: OutputDir,
    canonical: Value,
    started: Moment,
    threads: usize,
}

impl EstimatedMatrix {
    /// Estimates the matrix of a collection, by default the synthetic one.
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
        let features = Query::listed_features(&queries);
        let pool = super::pool(threads)?;
        let rankers = pool.install(|| RankedCollection::by_features(&queries, &features, settings.seed))?;
        let estimation = Estimation::new(&rankers, settings)?;

        let lock = output.lock()?;
        let mut progress = resumed(&estimation, out)?;
        let all = progress.n_pairs();
        let kept = |left: usize| {
            let (done, all) = (number::grouped((all - left) as u64), number::counted(all as u64, "pair"));
            let file = out.join(PROGRESS);
            format!("{done} of {all} are kept in {}: the same command continues from there", file.display())
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
        Ok(Self {
            file,
            preferences,
            features,
            output,
            canonical,
            started,
            threads: pool.current_num_threads(),
        })
    }

    pub(super) fn file(&self) -> &MatrixFile {
        &self.file
    }

    pub(crate) fn into_file(self) -> MatrixFile {
        self.file
    }

    /// The comparisons, and the number of the feature of each ranker, from 1.
    pub(super) fn preferences(&self) -> (&Preferences, Vec<usize>) {
        (&self.preferences, self.features.iter().map(|feature| feature + 1).collect())
    }

    /// Writes matrix, comparisons, and `more` files.
    pub(crate) fn write(&self, more: &[(&str, &[u8])]) -> Result<()> {
        let (counts, matrix) = (counts(&self.preferences, &self.features)?, matrix(&self.preferences));
        let own: [(&str, &[u8]); 2] = [(COUNTS, counts.as_bytes()), (MATRIX, matrix.as_bytes())];
        super::write(&self.output, &self.canonical, self.started, self.threads, &[&own, more].concat())
    }
}

/// The settings that the estimate depends on, for the manifest.
fn canonical(collection: Option<&Path>, arguments: &EstimateArguments, settings: &Settings) -> Result<Value> {
    let (name, digest) = match collection {
        Some(file) => (super::file_name(file), Some(digest(file)?)),
        None => ("the synthetic collection".to_owned(), None),
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
    let mut hash = Sha256::new();
    let hashed = open_regular(file).and_then(|mut file| io::copy(&mut file, &mut hash));
    hashed.with_context(|| format!("{}: cannot be read", file.display()))?;
    Ok(hexadecimal(&hash.finalize()))
}

/// The progress of an earlier run, or the start.
fn resumed(estimation: &Estimation<'_>, out: &Path) -> Result<Progress> {
    let file = out.join(PROGRESS);
    let bytes = match read_own(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(estimation.start()),
        Err(error) => return Err(error).with_context(|| format!("{}: cannot be read", file.display())),
    };
    let message = || {
        format!(
            "{}: is not the progress of this estimation: give another --out, or move it away",
            file.display()
        )
    };
    let progress: Progress = serde_json::from_slice(&bytes).with_context(message)?;
    estimation.check(&progress).with_context(message)?;
    Ok(progress)
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
