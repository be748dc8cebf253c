//! Estimates a preference matrix from a LETOR file, or from the synthetic collection, and prints
//! its Condorcet winner.
//!
//! ```text
//! cargo run --release -p interleaving --example preferences -- [FILE] [--matrix FILE]
//! ```
//!
//! `--matrix` writes the matrix as comma-separated values.

use anyhow::{Context, Result, bail};
use click_models::PreferenceMatrix;
use interleaving::{Estimation, Query, RankedCollection, RankedQuery, Settings, Synthetic, letor};
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<()> {
    let (mut data, mut matrix) = (None, None);
    let mut arguments = env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--matrix") => matrix = Some(arguments.next().context("a file name is missing")?),
            Some(option) if option.starts_with('-') => bail!("unknown option {option}"),
            _ => data = Some(PathBuf::from(argument)),
        }
    }
    let queries = match &data {
        Some(file) => letor::read_file(file)?,
        None => Synthetic::default().queries()?,
    };
    let n_features = queries.iter().map(Query::n_features).max().unwrap_or(0);
    let n_documents: usize = queries.iter().map(Query::n_documents).sum();
    println!("{} queries, {n_documents} documents, {n_features} features", queries.len());

    let rankers = RankedCollection::by_features(&queries, &(0..n_features).collect::<Vec<_>>(), 1)?;
    let estimation = Estimation::new(&rankers, Settings::default())?;
    let rows = estimation.preferences(|| ()).matrix();
    describe(&PreferenceMatrix::new(&rows)?);
    describe_without_clicks(&rankers);
    if let Some(file) = matrix {
        let lines = rows.into_iter().map(|row| {
            row.iter().map(|probability| format!("{probability:.6}")).collect::<Vec<_>>().join(",") + "\n"
        });
        fs::write(file, lines.collect::<String>())?;
    }
    Ok(())
}

/// Prints the Condorcet winner with its smallest margin, and the number of cycles.
fn describe(matrix: &PreferenceMatrix) {
    match matrix.condorcet_winner() {
        Some(winner) => {
            let others = matrix.shape().items().filter(|&other| other != winner);
            let least = others.map(|other| matrix.probability(winner, other).get()).fold(1.0, f64::min);
            println!("ranker {} (counted from 0) beats all others", winner.index());
            println!("against its strongest opponent it wins {least:.4} of the comparisons");
        }
        None => println!("no ranker beats all others"),
    }
    println!("{} cycles of three", matrix.three_cycles().count());
}

/// Prints the rankers with the largest mean reciprocal rank of the first relevant document, which
/// requires no clicks.
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
