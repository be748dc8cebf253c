//! How far from the truth is what another ranking would have earned, and how often do intervals
//! have it? On generated logs of known users, over many seeds.
//!
//! ```text
//! cargo run --release -p measurements --bin evaluate -- --seeds 100
//! cargo run --release -p measurements --bin evaluate -- --seeds 1000 --only null --model none
//! ```
//!
//! A row for each kind of log and each number: seeds in which it may answer, mean error of the
//! value with its standard error, the mean true value, and the share of the intervals of the
//! difference that have the true one. `null`: all items of a query are alike, so the true
//! difference is 0 and the intervals that do not have it are false alarms.

#[path = "../../../crates/evaluation/tests/generated/world.rs"]
mod world;

use clap::Parser;
use click_logs::fit::Model;
use evaluation::{Evaluation, Finding, Question, Ranking};
use log_reader::{Error, Format, Ids, Input, Reader};
use std::collections::BTreeMap;
use world::{COLUMNS, Generated, Logger, Users, World};

#[derive(Debug, Parser)]
struct Arguments {
    /// Number of logs of each kind
    #[arg(long, default_value_t = 100)]
    seeds: u64,
    /// Lists of a log
    #[arg(long, default_value_t = 20_000)]
    lists: usize,
    /// Queries of a log
    #[arg(long, default_value_t = 400)]
    queries: usize,
    /// Only kinds of logs with this in their names
    #[arg(long, default_value = "")]
    only: String,
    /// Models, or none
    #[arg(long, value_delimiter = ',', default_value = "pbm,dcm")]
    model: Vec<String>,
}

/// Errors of a number.
#[derive(Debug, Default)]
struct Errors {
    of_values: Vec<f64>,
    truth: f64,
    covered: u32,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let models: Vec<Model> = arguments.model.iter().filter_map(|name| Model::from_name(name)).collect();
    let examination: Vec<f64> = (0..10).map(|k| 1.0 / (1.0 + 0.35 * f64::from(k))).collect();
    let position_based = Users::PositionBased(examination);
    let dependent = Users::DependentClicks(0.6);
    // Name, users, logger, items, positions, whether items are alike.
    let kinds = [
        ("two rankers, position-based", &position_based, Logger::TwoRankers, 20, 10, false),
        ("two rankers, dependent clicks", &dependent, Logger::TwoRankers, 20, 10, false),
        ("epsilon-greedy, position-based", &position_based, Logger::EpsilonGreedy(0.5), 12, 10, false),
        ("null, levels", &position_based, Logger::EpsilonGreedy(0.5), 12, 10, true),
        ("null, two rankers", &position_based, Logger::TwoRankers, 20, 10, true),
    ];
    println!(
        "| log | number | answers | mean error | se | truth | coverage |\n|---|---|---|---|---|---|---|"
    );
    for (name, users, logger, items, positions, alike) in kinds {
        if !name.contains(&arguments.only) {
            continue;
        }
        let mut found: BTreeMap<String, Errors> = BTreeMap::new();
        for seed in 0..arguments.seeds {
            let world = World::new(users.clone(), arguments.queries, items, positions, alike, seed);
            let of = world.with_shown_items().generate(logger, arguments.lists, 1, false, seed);
            let evaluation = evaluated(&of, &models)?;
            let answer = evaluation.findings.answer().map(|answer| ("the answer".to_owned(), answer));
            // Without models, `position` does not answer, but has an interval to be judged.
            let counts = |found: &&Finding| found.refused.is_none() || models.is_empty();
            let each = evaluation.findings.all.iter().filter(counts);
            for (name, finding) in each.map(|found| (found.basis.name().to_owned(), found)).chain(answer) {
                let (Some(value), Some((low, high))) = (&finding.value, finding.interval) else { continue };
                let errors = found.entry(name).or_default();
                errors.of_values.push(value.value - of.value);
                errors.truth += of.value;
                errors.covered += u32::from(low <= of.difference && of.difference <= high);
            }
        }
        for (number, Errors { of_values: errors, truth, covered }) in found {
            let n = errors.len() as f64;
            let mean = errors.iter().sum::<f64>() / n;
            let squares: f64 = errors.iter().map(|error| (error - mean) * (error - mean)).sum();
            let se = (squares / (n - 1.0) / n).sqrt();
            let (truth, coverage) = (truth / n, f64::from(covered) / n);
            println!("| {name} | {number} | {n} | {mean:.4} | {se:.4} | {truth:.3} | {coverage:.3} |");
        }
    }
    Ok(())
}

fn evaluated(of: &Generated, models: &[Model]) -> Result<Evaluation, Box<dyn std::error::Error>> {
    let reader = Reader::new(Format::delimited(COLUMNS)?);
    let reader = if models.is_empty() { reader } else { reader.keep_sessions() };
    let ids = Ids::new();
    let ranking = Ranking::read("ranking.csv", of.ranking.as_bytes())?;
    let question = Question::new(ranking, reader.format(), None, &ids)?;
    let inputs = |_| Ok::<_, Error>(vec![Input::stream("log.csv", of.log.as_bytes())]);
    let read = reader.read_lists(ids, inputs, || question.tally())?;
    Ok(Evaluation::new(&question, read, models, |_| true)?)
}
