//! Estimates examination from sparse logs of known position-based users: many queries with a few
//! lists each.
//!
//! ```text
//! cargo run --release -p measurements --bin sparse -- random 50
//! cargo run --release -p measurements --bin sparse -- ranked 50 0.1
//! cargo run --release -p measurements --bin sparse -- ranked 200 0.1 2 4
//! ```
//!
//! Lists show 10 of 14 items of attraction Beta(0.8, 4); a log has 8,000 lists. `random`: in random
//! order. `ranked`: by attraction plus normal noise with this standard deviation. The number after
//! `random`, or after the noise, is the number of logs; numbers of lists per query may follow. Each
//! of them gives a row: mean examination; the largest bias of a mean; the share of logs with all
//! positions within .12 of the truth; the smallest and the largest coverage of 95% intervals; the
//! smallest and the largest ratio of the typical standard error of a logarithm (root mean square)
//! to the standard deviation of these logarithms; and the share of logs whose report lists a
//! position with few comparisons.

use click_logs::fit::{Estimate, Model, Options, Scope, fit, identifiability};
use confidence::math::ln;
use log_reader::{Counts, Format, Reader};
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Beta, Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt::Write;

const EXAMINATION: [f64; 10] = [1.0, 0.67, 0.5, 0.35, 0.25, 0.19, 0.16, 0.11, 0.11, 0.09];
const N_ITEMS: usize = 14;
const N_LISTS: usize = 8000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (n_logs, noise, lists) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["random", n_logs, ref lists @ ..] => (n_logs.parse()?, None, lists.to_vec()),
        ["ranked", n_logs, noise, ref lists @ ..] => (n_logs.parse()?, Some(noise.parse()?), lists.to_vec()),
        _ => return Err("expected: random LOGS [LISTS...] | ranked LOGS NOISE [LISTS...]".into()),
    };
    println!("lists a query, examination at 2 to 10, bias, within .12, coverage, errors, hardly told");
    let lists = if lists.is_empty() { vec!["1", "2", "4", "8", "16", "32", "64"] } else { lists };
    for lists in lists {
        row(lists.parse()?, n_logs, noise)?;
    }
    Ok(())
}

fn row(lists: usize, n_logs: usize, noise: Option<f64>) -> Result<(), Box<dyn std::error::Error>> {
    let mut logs = Vec::with_capacity(n_logs);
    let (mut close, mut hardly_told) = (0, 0);
    for seed in 0..n_logs {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64((1000 * lists + seed) as u64);
        let counts = log(lists, noise, &mut rng)?;
        let options = Options { scope: Scope::Site, ..Options::default() };
        let pbm = fit(Model::Pbm, &counts, &log_reader::Sessions::default(), &options)?;
        let positions = pbm.positions.site.clone();
        let far = |(found, truth): (&Estimate, f64)| (found.value - truth).abs() >= 0.12;
        close += usize::from(!positions.iter().zip(EXAMINATION).any(far));
        hardly_told += usize::from(!identifiability(&counts, Scope::Site, 20)[0].few_comparisons.is_empty());
        logs.push(positions);
    }
    let mean = |of: &dyn Fn(&Estimate) -> f64, position: usize| {
        logs.iter().map(|log: &Vec<Estimate>| of(&log[position])).sum::<f64>() / n_logs as f64
    };
    let below_first = 1..EXAMINATION.len();
    let means: Vec<f64> = below_first.clone().map(|l| mean(&|found| found.value, l)).collect();
    let bias =
        means.iter().zip(&EXAMINATION[1..]).map(|(mean, truth)| (mean - truth).abs()).fold(0.0, f64::max);
    let covered = below_first.clone().map(|l| mean(&|found| f64::from(found.covers(EXAMINATION[l])), l));
    let errors = below_first.map(|l| {
        let logarithm = mean(&|found| ln(found.value), l);
        let variance = mean(&|found| (ln(found.value) - logarithm).powi(2), l);
        let of_interval = mean(&|found| (found.standard_error.unwrap_or(f64::NAN) / found.value).powi(2), l);
        (of_interval / variance).sqrt()
    });
    let mut text = format!("{lists:2} ");
    means.iter().try_for_each(|mean| write!(text, " {mean:.3}"))?;
    let share = |of: usize| of as f64 / n_logs as f64;
    println!(
        "{text}  {bias:.3}  {:.2}  {}  {}  {:.2}",
        share(close),
        range(covered),
        range(errors),
        share(hardly_told)
    );
    Ok(())
}

/// The smallest and the largest number.
fn range(numbers: impl Iterator<Item = f64>) -> String {
    let (low, high) =
        numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), of| (low.min(of), high.max(of)));
    format!("{low:.3} to {high:.3}")
}

/// Counts of queries with `lists` lists each.
fn log(lists: usize, noise: Option<f64>, rng: &mut impl Rng) -> Result<Counts, Box<dyn std::error::Error>> {
    let attraction = Beta::new(0.8, 4.0)?;
    let mut log = String::from("query\tregion\turls\tclicked_mask\tn_clicks_outside_top10\n");
    for query in 0..N_LISTS / lists {
        let attraction: [f64; N_ITEMS] = std::array::from_fn(|_| attraction.sample(rng));
        for _ in 0..lists {
            let mut order: Vec<(f64, usize)> = (0..N_ITEMS)
                .map(|item| {
                    let noise = noise.map(|noise| noise * rng.sample::<f64, _>(StandardNormal));
                    (noise.map_or_else(|| rng.random(), |noise| noise - attraction[item]), item)
                })
                .collect();
            order.sort_by(|a, b| a.0.total_cmp(&b.0));
            order.truncate(EXAMINATION.len());
            let items: Vec<String> = order.iter().map(|(_, item)| (item + 1).to_string()).collect();
            let clicked = |(&(_, item), examination): (&(f64, usize), &f64)| {
                if rng.random::<f64>() < attraction[item] * examination { '1' } else { '0' }
            };
            let mask: String = order.iter().zip(&EXAMINATION).map(clicked).collect();
            writeln!(log, "{}\t0\t{}\t{mask}\t0", query + 1, items.join(","))?;
        }
    }
    Ok(Reader::new(Format::Sessions).read("generated", log.as_bytes())?.counts)
}
