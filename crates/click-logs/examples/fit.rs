//! Compares click models on a log: every model that its format allows, on a fifth of the sessions (or lines), which is held out.
//!
//! ```text
//! cargo run --release -p click-logs --example fit -- sessions sessions.tsv
//! cargo run --release -p click-logs --example fit -- kdd2012 training.txt 1000 5 8
//! ```
//!
//! Measures the time of EM on all queries of a log with one examination, and of the default fits with one for all and for each query:
//!
//! ```text
//! cargo run --release -p click-logs --example fit -- speed kdd2012 training.txt
//! cargo run --release -p click-logs --example fit -- speed counts counts.csv
//! ```
//!
//! Formats: `sessions`, `yandex`, `kdd2012`, `obd`, and `counts` (`query,item,position,clicks,impressions`). Three numbers are a filter:
//! the smallest number of impressions of an item at each of the first 3 positions, the smallest number of items of a query, and the
//! number of queries, largest first. A single number is the seed of the hold-out; a second one is the strength of priors.

use click_logs::fit::{
    EmOptions, Fit, Method, Model, Options, Scope, compare, fit, identifiability, rank_one_svd, split,
};
use click_logs::{Counts, Filter, Format, HeldOut, Reader, Sessions, formats};
use rustix::time::{ClockId, clock_gettime};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [format, path, filter @ ..] = arguments.as_slice() else {
        let formats = formats::names(|row| !row.names_columns()).join(" | ");
        return Err(format!("expected: {formats} | counts, and a file").into());
    };
    if let ("speed", [log]) = (format.as_str(), filter) {
        return speed(&self::format(path)?, log);
    }
    // One number is the seed of the hold-out; the second is the strength of priors.
    let default = Options::default().prior_strength;
    let (seed, prior_strength, filter) = match filter {
        [seed] => (seed.parse()?, default, [].as_slice()),
        [seed, strength] => (seed.parse()?, Some(strength.parse()?), [].as_slice()),
        _ => (1, default, filter),
    };
    let options = Options { prior_strength, ..Options::default() };
    let mut reader = Reader::new(self::format(format)?);
    if self::format(format)?.has_sessions() {
        reader = reader.keep_sessions().hold_out(5, seed)?;
    }
    let mut log = reader.read_files(&[path])?;
    if let [min_impressions, min_items, top] = filter {
        let (min_impressions, min_items) = (min_impressions.parse()?, min_items.parse()?);
        let (n_positions, top_queries) = (Some(3), Some(top.parse()?));
        log.counts = log.counts.filtered(&Filter {
            min_impressions,
            min_items,
            n_positions,
            top_queries,
            ..Filter::default()
        });
    }
    let held_out = if let Some(held_out) = log.held_out {
        held_out
    } else {
        let [rest, counts] = split(&log.counts, 5, seed)?;
        log.counts = rest;
        HeldOut { counts, sessions: Sessions::default() }
    };
    println!(
        "{} queries, {} cells, {} impressions",
        log.counts.n_queries(),
        log.counts.n_cells(),
        log.counts.impressions()
    );
    comparison(&log.counts, &log.sessions, &held_out, options)?;
    let site = Options { scope: Scope::Site, ..Options::default() };
    let pbm = fit(Model::Pbm, &log.counts, &log.sessions, &site)?;
    println!("\nexamination of all queries");
    print_positions(&pbm);
    println!("\n{}", identifiability(&log.counts, Scope::Site, 20)[0]);
    println!("\nshare of the first singular value, of its square");
    for query in log.counts.queries().take(20) {
        if let Some(svd) = rank_one_svd(&query) {
            let name = log.counts.names().name(query.id());
            println!(
                "{name:>12} {:>3} items {:.4} {:.4}",
                svd.items.len(),
                svd.share(),
                svd.share_of_squares()
            );
        }
    }
    Ok(())
}

/// A format with fixed columns.
fn format(name: &str) -> Result<Format, Box<dyn std::error::Error>> {
    match formats::find(name) {
        Some(row) => Ok(row.format(None)?),
        None if name == "counts" => Ok(Format::counts()),
        None => Err(format!("`{name}` is no format").into()),
    }
}

fn comparison(
    counts: &Counts,
    sessions: &Sessions,
    held_out: &HeldOut,
    options: Options,
) -> Result<(), Box<dyn std::error::Error>> {
    println!("{:<18} {:>10} {:>8} {:>8}  perplexity by rank", "model", "ln p", "perpl.", "given");
    for model in Model::ALL {
        for scope in [Scope::Query, Scope::Site] {
            if model.needs_sessions() && sessions.is_empty() {
                continue;
            }
            if scope == Scope::Site && !matches!(model, Model::Pbm | Model::Dcm) {
                continue;
            }
            let fit = fit(model, counts, sessions, &Options { scope, ..options })?;
            let score = compare(&fit, held_out)?;
            let name = if scope == Scope::Site { format!("{model}, one for all") } else { model.to_string() };
            print!(
                "{name:<18} {:>10.5} {:>8.4} {:>8.4} ",
                score.log_likelihood, score.perplexity, score.conditional_perplexity
            );
            score.perplexity_by_rank.iter().for_each(|rank| print!(" {rank:.3}"));
            println!();
        }
    }
    Ok(())
}

fn print_positions(fit: &Fit) {
    for (position, examination) in (1..).zip(fit.site_positions()) {
        let (low, high) = examination.interval.unwrap_or((f64::NAN, f64::NAN));
        println!("{position:>3} {:.4}  {low:.4} to {high:.4}", examination.value);
    }
}

/// Two runs that differ in the number of iterations only.
fn speed(format: &Format, path: &str) -> Result<(), Box<dyn std::error::Error>> {
    let counts = Reader::new(format.clone()).read_files(&[path])?.counts;
    println!("{} queries, {} cells", counts.n_queries(), counts.n_cells());
    let run = |method, accelerate, max_iterations| -> Result<(f64, usize), click_logs::fit::FitError> {
        let em = EmOptions { accelerate, max_iterations, tolerance: 1e-300 };
        let options =
            Options { scope: Scope::Site, method, em, prior_strength: Some(0.0), ..Options::default() };
        let before = seconds();
        let fit = fit(Model::Pbm, &counts, &Sessions::default(), &options)?;
        let iterations = fit.site().convergence.as_ref().map_or(0, |convergence| convergence.last.iterations);
        Ok((seconds() - before, iterations))
    };
    for accelerate in [false, true] {
        let (short, few) = run(Method::Em, accelerate, 31)?;
        let (long, many) = run(Method::Em, accelerate, 91)?;
        let nanoseconds = (long - short) * 1e9 / ((many - few) as f64 * counts.n_cells() as f64);
        println!(
            "EM{}: {nanoseconds:.2} ns a cell and iteration",
            if accelerate { ", accelerated" } else { "" }
        );
    }
    for scope in [Scope::Site, Scope::Query] {
        let before = seconds();
        let pbm = fit(Model::Pbm, &counts, &Sessions::default(), &Options { scope, ..Options::default() })?;
        println!(
            "{scope:?}, default: {:.2} s, {:?}",
            seconds() - before,
            pbm.site().convergence.as_ref().map(|c| c.last)
        );
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"));
    Ok(())
}

/// Processor time of the process.
fn seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
