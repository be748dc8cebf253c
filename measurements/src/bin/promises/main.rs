//! Does the answer of `fit` keep what it promises? Logs of known users are generated, and the
//! intervals of the answer compared with the truth.
//!
//! ```text
//! cargo run --release -p measurements --bin promises -- --kind pbm,dbn --size 4x1000 --logs 20
//! ```
//!
//! Each list has 5 of 8 items, ordered by a ranker that knows the logarithm of attraction up to
//! normal noise, drawn for each list. A *group* is a kind of users, a size (queries x lists of
//! each) and a noise. The truth is exact: expected clicks of lists, and the best list by
//! enumeration. If users change in the middle of the log, an answer can be right about the mean
//! over the log; a second line compares it with the last half.
//!
//! Logs that are used while the answer is built have seeds below [`FIRST_TO_JUDGE`].

mod group;
mod log;
mod policy;
mod promised;
mod users;

use clap::Parser;
use group::{Group, HEADER};
use log::{NOISES, SIZES};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;
use users::KINDS;

/// The first seed of logs that judge, and that nobody looks at before.
const FIRST_TO_JUDGE: u64 = 1_000_000;

type Error = Box<dyn std::error::Error + Send + Sync>;

/// Compares the answer of `fit` with the truth on generated logs.
#[derive(Debug, Parser)]
struct Arguments {
    /// Kinds of users, by default all
    #[arg(long, value_delimiter = ',', value_name = "KIND")]
    kind: Vec<String>,
    /// Sizes, by default all
    #[arg(long, value_delimiter = ',', value_name = "SIZE")]
    size: Vec<String>,
    /// Noise of the ranker, by default all
    #[arg(long, value_delimiter = ',', value_name = "NOISE")]
    noise: Vec<f64>,
    /// Logs of each group
    #[arg(long, default_value_t = 100, value_name = "N")]
    logs: u64,
    /// Seed of the first log; from 1000000 on to judge
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    first_seed: u64,
    /// Also play the policy of each answer
    #[arg(long)]
    policies: bool,
    /// Answer with the true model alone, as if it were known to be right
    #[arg(long)]
    true_model: bool,
    /// Number of threads
    #[arg(long, default_value_t = 2, value_name = "N")]
    threads: usize,
    /// Write each log into this folder, and answer none
    #[arg(long, value_name = "DIR")]
    write_logs: Option<PathBuf>,
    /// Write the numbers of each log as a line of JSON
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

fn main() -> Result<(), Error> {
    let arguments = Arguments::parse();
    check("kind", &arguments.kind, &KINDS.map(|kind| kind.name))?;
    check("size", &arguments.size, &SIZES.map(|size| size.name))?;
    let named = |names: &[String], name: &str| names.is_empty() || names.iter().any(|other| other == name);
    let noises = if arguments.noise.is_empty() { &NOISES[..] } else { &arguments.noise };
    let last_seed = arguments.first_seed + arguments.logs.saturating_sub(1);
    if arguments.first_seed < FIRST_TO_JUDGE && last_seed >= FIRST_TO_JUDGE {
        return Err(format!("seeds on both sides of {FIRST_TO_JUDGE}").into());
    }
    let mut out = arguments.out.as_ref().map(File::create).transpose()?.map(BufWriter::new);
    if arguments.write_logs.is_none() {
        println!("{HEADER}");
    }
    for kind in KINDS.iter().filter(|kind| named(&arguments.kind, kind.name)) {
        for &size in SIZES.iter().filter(|size| named(&arguments.size, size.name)) {
            for &noise in noises {
                let group = Group {
                    kind,
                    size,
                    noise,
                    policies: arguments.policies,
                    true_model: arguments.true_model,
                };
                let seeds = arguments.first_seed..=last_seed;
                if let Some(folder) = &arguments.write_logs {
                    for seed in seeds {
                        let file = format!("{}-{}-{noise}-{seed}.tsv", kind.name, size.name);
                        std::fs::write(folder.join(file), group.generate(seed)?.text)?;
                    }
                    continue;
                }
                let judged = group.judge(seeds, arguments.threads)?;
                judged.print();
                if let Some(out) = &mut out {
                    for line in &judged.logs {
                        serde_json::to_writer(&mut *out, line)?;
                        writeln!(out)?;
                    }
                    out.flush()?;
                }
            }
        }
    }
    Ok(())
}

/// Refuses unknown names.
fn check(what: &str, names: &[String], known: &[&str]) -> Result<(), String> {
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(format!("`{name}` is no {what}: expected {}", known.join(", "))),
        None => Ok(()),
    }
}
