//! Prints the numbers of the table on the front page of `confidence`: the width and the cost of
//! each bound.
//!
//! `cargo run --release -p measurements --bin which_bound`

use confidence::coverage_bound;
use confidence::sequence::{
    BetaMixture, ConfidenceSequence, EmpiricalBernstein, HedgedBetting, Interval, KlMixture,
};
use confidence::{
    hoeffding_radius, kl_ucb_lower, kl_ucb_upper, lil_radius_scaled, math, multi_position_lower,
    multi_position_upper, sample_bernstein_radius,
};
use std::hint::black_box;

/// Miss probability of an interval.
const MISS: f64 = 0.05;
const MEAN: f64 = 0.1;
/// Numbers of observations in the table.
pub(crate) const SIZES: [u64; 3] = [100, 10_000, 1_000_000];

/// A bound of the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// Rust items to call.
    pub(crate) name: &'static str,
    /// Its width after each of the given numbers of observations.
    pub(crate) widths: fn(&[u64]) -> Vec<f64>,
    /// The work to time: one evaluation of both sides, or the observations of a sequence.
    pub(crate) work: fn(u64),
}

fn closed(sizes: &[u64], width: impl Fn(u64) -> f64) -> Vec<f64> {
    sizes.iter().map(|&n| width(n)).collect()
}

fn kl_width(n: f64, level: f64) -> f64 {
    kl_ucb_upper(MEAN, n, level) - kl_ucb_lower(MEAN, n, level)
}

fn kl_work(n: u64) {
    let (mean, n, level) = black_box((MEAN, n as f64, 3.7));
    black_box((kl_ucb_upper(mean, n, level), kl_ucb_lower(mean, n, level)));
}

/// The level at which each side misses with probability at most half of [`MISS`].
fn level_for_round(miss: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (1.0, 200.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        *if miss(middle) > 0.5 * MISS { &mut low } else { &mut high } = middle;
    }
    high
}

/// Widths along the sequence in which every tenth observation is a click.
fn along<S: ConfidenceSequence>(mut sequence: S, sizes: &[u64]) -> Vec<f64> {
    let mut widths = vec![];
    for n in 1..=sizes.iter().copied().max().unwrap_or(0) {
        sequence.observe(if n % 10 == 5 { 1.0 } else { 0.0 });
        if sizes.contains(&n) {
            let Interval { lower, upper } = sequence.interval();
            widths.push(upper - lower);
        }
    }
    widths
}

fn observe<S: ConfidenceSequence>(mut sequence: S, n: u64) {
    for i in 0..n {
        sequence.observe(black_box(if i % 10 == 5 { 1.0 } else { 0.0 }));
    }
    black_box(sequence.interval());
}

/// All bounds of the table.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = rows_for_given_numbers();
    rows.extend(rows_for_all_numbers());
    rows
}

/// Bounds that hold for one number of observations, or for all up to a given number.
fn rows_for_given_numbers() -> Vec<Row> {
    // Both sides together may miss with probability MISS, so each side gets half.
    vec![
        Row {
            name: "`hoeffding_radius`",
            widths: |sizes| closed(sizes, |n| 2.0 * hoeffding_radius(n as f64, math::ln(2.0 / MISS))),
            work: |n| {
                black_box(hoeffding_radius(black_box(n as f64), 3.7));
            },
        },
        Row {
            name: "`sample_bernstein_radius`",
            widths: |sizes| {
                closed(sizes, |n| {
                    let n = n as f64;
                    let variance = MEAN * (1.0 - MEAN) * n / (n - 1.0);
                    2.0 * sample_bernstein_radius(n, variance, math::ln(4.0 / MISS))
                })
            },
            work: |n| {
                black_box(sample_bernstein_radius(black_box(n as f64), 0.09, 4.4));
            },
        },
        Row {
            name: "`kl_ucb_upper`, `kl_ucb_lower`",
            widths: |sizes| closed(sizes, |n| kl_width(n as f64, math::ln(2.0 / MISS))),
            work: kl_work,
        },
        Row {
            name: "`kl_ucb_upper`, `.._lower`, level from `coverage_bound::kl_ucb`",
            widths: |sizes| {
                closed(sizes, |n| {
                    kl_width(n as f64, level_for_round(|level| coverage_bound::kl_ucb(n, level)))
                })
            },
            work: kl_work,
        },
        Row {
            name: "`multi_position_upper`, `.._lower`, level from `coverage_bound::multi_position`",
            widths: |sizes| {
                closed(sizes, |n| {
                    let (clicks, shows, kappa) = three_positions(n);
                    let level = level_for_round(|level| coverage_bound::multi_position(n, level, 3));
                    multi_position_upper(&clicks, &shows, &kappa, level)
                        - multi_position_lower(&clicks, &shows, &kappa, level)
                })
            },
            work: |n| {
                let (clicks, shows, kappa) = black_box(three_positions(n));
                black_box(multi_position_upper(&clicks, &shows, &kappa, 3.7));
                black_box(multi_position_lower(&clicks, &shows, &kappa, 3.7));
            },
        },
    ]
}

/// Bounds that hold for all numbers of observations at once.
fn rows_for_all_numbers() -> Vec<Row> {
    vec![
        Row {
            name: "`lil_radius_scaled`, scale 2",
            widths: |sizes| closed(sizes, |n| 2.0 * lil_radius_scaled(n, math::sqrt(MISS / 6.0), 2.0)),
            work: |n| {
                black_box(lil_radius_scaled(black_box(n), 0.09, 2.0));
            },
        },
        Row {
            name: "`sequence::BetaMixture`",
            widths: |sizes| along(BetaMixture::new(MISS).expect("a miss probability"), sizes),
            work: |n| observe(BetaMixture::new(MISS).expect("a miss probability"), n),
        },
        Row {
            name: "`sequence::KlMixture`",
            widths: |sizes| along(KlMixture::new(MISS).expect("a miss probability"), sizes),
            work: |n| observe(KlMixture::new(MISS).expect("a miss probability"), n),
        },
        Row {
            name: "`sequence::EmpiricalBernstein`",
            widths: |sizes| along(EmpiricalBernstein::new(MISS).expect("a miss probability"), sizes),
            work: |n| observe(EmpiricalBernstein::new(MISS).expect("a miss probability"), n),
        },
        Row {
            name: "`sequence::HedgedBetting`, 10 000 cells",
            widths: |sizes| along(HedgedBetting::new(MISS, 10_000).expect("a miss probability"), sizes),
            work: |n| observe(HedgedBetting::new(MISS, 10_000).expect("a miss probability"), n),
        },
    ]
}

fn three_positions(n: u64) -> ([u64; 3], [u64; 3], [f64; 3]) {
    let kappa = [0.9, 0.6, 0.3];
    // Expected counts, rounded to whole clicks.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number of clicks"
    )]
    let clicks = kappa.map(|kappa| (kappa * MEAN * (n / 3) as f64).round() as u64);
    (clicks, [n / 3; 3], kappa)
}

/// The widths of a row, as printed.
pub(crate) fn printed_widths(row: &Row) -> String {
    let widths: Vec<String> = (row.widths)(&SIZES).iter().map(|width| format!("{width:.5}")).collect();
    widths.join(" | ")
}

#[expect(clippy::disallowed_methods, reason = "measures time, to print it")]
fn nanoseconds(row: &Row) -> f64 {
    // Sequences do n observations at a call, the others one evaluation.
    let (n, calls, per_call) =
        if row.name.contains("sequence") { (1000, 20, 1000.0) } else { (1000, 20_000, 1.0) };
    let best = (0..7).map(|_| {
        let start = std::time::Instant::now();
        for _ in 0..calls {
            (row.work)(black_box(n));
        }
        start.elapsed().as_secs_f64() * 1e9 / (f64::from(calls) * per_call)
    });
    best.fold(f64::INFINITY, f64::min)
}

fn main() {
    println!("| bound | n = 100 | n = 10^4 | n = 10^6 | ns |");
    println!("|---|---|---|---|---|");
    for row in rows() {
        println!("| {} | {} | {:.0} |", row.name, printed_widths(&row), nanoseconds(&row));
    }
}
