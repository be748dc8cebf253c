//! Estimates a preference matrix from a LETOR file, or from the synthetic collection, and prints its Condorcet winner.
//!
//! ```text
//! cargo run --release -p interleaving --example preferences -- [FILE] [--state FILE] [--matrix FILE]
//! ```
//!
//! `--state` saves finished pairs in a file; if the program is killed and restarted, it resumes from there. `--matrix` writes the matrix
//! as comma-separated values.

use anyhow::{Context, Result, bail};
use interleaving::{
    Estimation, Preferences, Progress, Query, RankedCollection, RankedQuery, Settings, Synthetic, letor,
};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Number of pairs between two writes of the state.
const PAIRS_AT_ONCE: usize = 64;

fn main() -> Result<()> {
    let (mut data, mut state, mut matrix) = (None, None, None);
    let mut arguments = env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        let wanted = match argument.to_str() {
            Some("--state") => &mut state,
            Some("--matrix") => &mut matrix,
            Some(option) if option.starts_with('-') => bail!("unknown option {option}"),
            _ => {
                data = Some(PathBuf::from(argument));
                continue;
            }
        };
        *wanted = Some(PathBuf::from(arguments.next().context("a file name is missing")?));
    }

    let queries = match &data {
        Some(file) => letor::read_file(file)?,
        None => Synthetic::default().queries()?,
    };
    let n_features = queries.iter().map(Query::n_features).max().unwrap_or(0);
    let n_documents: usize = queries.iter().map(Query::n_documents).sum();
    println!("{} queries, {n_documents} documents, {n_features} features", queries.len());

    let rankers = RankedCollection::by_features(&queries, &(0..n_features).collect::<Vec<_>>(), 1)?;
    let preferences = estimate(&rankers, Settings::default(), state.as_deref())?;
    describe(&preferences);
    describe_without_clicks(&rankers);
    if let Some(file) = matrix {
        let lines = preferences.matrix().into_iter().map(|row| {
            row.iter().map(|probability| format!("{probability:.6}")).collect::<Vec<_>>().join(",") + "\n"
        });
        write_whole(&file, lines.collect::<String>().as_bytes())?;
    }
    Ok(())
}

fn estimate(rankers: &RankedCollection, settings: Settings, state: Option<&Path>) -> Result<Preferences> {
    let estimation = Estimation::new(rankers, settings)?;
    let mut progress = match state.filter(|file| file.exists()) {
        Some(file) => {
            let progress: Progress = serde_json::from_slice(&fs::read(file)?)
                .with_context(|| format!("{} is not a saved state", file.display()))?;
            estimation.check(&progress).with_context(|| format!("{} cannot be resumed", file.display()))?;
            println!(
                "{} of {} pairs were done before",
                progress.n_pairs() - progress.remaining(),
                progress.n_pairs()
            );
            progress
        }
        None => estimation.start(),
    };
    loop {
        let remaining = estimation.advance(&mut progress, PAIRS_AT_ONCE)?;
        if let Some(file) = state {
            write_whole(file, &serde_json::to_vec(&progress)?)?;
        }
        if remaining == 0 {
            return progress.preferences().context("all pairs are done");
        }
    }
}

/// Prints the Condorcet winner and its smallest margin, or the rankers that come close.
fn describe(preferences: &Preferences) {
    let rankers = 0..preferences.n_rankers();
    let beaten =
        |first: usize| rankers.clone().filter(|&second| preferences.probability(first, second) > 0.5).count();
    let most = rankers.clone().max_by_key(|&ranker| beaten(ranker)).unwrap_or(0);
    let others = || rankers.clone().filter(|&other| other != most);
    let least = others().map(|other| preferences.probability(most, other)).fold(1.0, f64::min);
    println!("ranker {most} (counted from 0) beats {} of {}", beaten(most), preferences.n_rankers() - 1);
    println!("against its strongest opponent it wins {least:.4} of the comparisons");
    let beats = |first, second| preferences.probability(first, second) > 0.5;
    let cycles: usize = rankers
        .clone()
        .flat_map(|i| rankers.clone().flat_map(move |j| (0..i.min(j)).map(move |k| (i, j, k))))
        .filter(|&(i, j, k)| i != j && beats(i, j) && beats(j, k) && beats(k, i))
        .count();
    println!("{cycles} cycles of three");
}

/// Prints the rankers with the largest mean reciprocal rank of the first relevant document, which requires no clicks.
fn describe_without_clicks(rankers: &RankedCollection) {
    let reciprocal_rank = |query: &RankedQuery, ranker: usize| {
        let order = query.rankings()[ranker].order();
        let first = order.iter().position(|&document| query.labels()[document as usize] > 0);
        first.map_or(0.0, |position| 1.0 / (position + 1) as f64)
    };
    let mean = |ranker| {
        let sum: f64 = rankers.queries().iter().map(|query| reciprocal_rank(query, ranker)).sum();
        sum / rankers.queries().len() as f64
    };
    let mut by_mean: Vec<(f64, usize)> =
        (0..rankers.n_rankers()).map(|ranker| (mean(ranker), ranker)).collect();
    by_mean.sort_unstable_by(|left, right| right.0.total_cmp(&left.0));
    print!("largest mean reciprocal ranks:");
    for (mean, ranker) in by_mean.iter().take(3) {
        print!(" {mean:.3} of ranker {ranker};");
    }
    println!();
}

/// Writes to a temporary file and renames it, so that the file is never incomplete.
fn write_whole(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut beside = file.as_os_str().to_owned();
    beside.push(".part");
    fs::write(&beside, bytes)?;
    fs::rename(&beside, file)
}
