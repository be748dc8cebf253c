//! The numerics of `confidence`: each fast method compared with the bisection that it replaces, on
//! the same arguments in the same run.
//!
//! - `cargo bench -p benches --bench confidence` measures everything with criterion;
//! - `cargo bench -p benches --bench confidence -- --table` alternates between the methods, in
//!   short rounds, and prints the table of `crates/confidence/README.md`: nanoseconds (best round)
//!   and ratios. Alternating makes the ratios stable on a busy machine.

#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

#[path = "../../crates/confidence/tests/support/bisection.rs"]
mod bisection;

use bisection::{kl_ucb_upper_bisection, multi_position_upper_bisection};
use confidence::{
    KlUcbThreshold, MultiPositionThreshold, kl_ucb_entropy, kl_ucb_upper, kl_ucb_upper_batch, math,
    multi_position_entropy, multi_position_upper,
};
use criterion::{Criterion, Throughput, criterion_group};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::hint::black_box;

/// Number of arms: as many as fit into the first-level cache, like those of a policy.
const ARMS: usize = 1024;
/// ln 10^5: the level of a policy at round 10^5.
const LEVEL: f64 = 5.0 * core::f64::consts::LN_10;

/// Arms as after 10^5 rounds of some policy: 10 to 10^5 shows, evenly spread in the logarithm,
/// click rates mostly small.
struct Arms {
    means: Vec<f64>,
    shows: Vec<f64>,
    clicks: Vec<f32>,
    failures: Vec<f32>,
    entropies: Vec<f32>,
}

#[expect(clippy::cast_possible_truncation, reason = "rounding to f32 is the point")]
fn arms() -> Arms {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut arms = Arms { means: vec![], shows: vec![], clicks: vec![], failures: vec![], entropies: vec![] };
    for _ in 0..ARMS {
        let shows = libm_round(10.0 * exp10(4.0 * rng.random::<f64>()));
        let clicks = libm_round(shows * rng.random::<f64>() * rng.random::<f64>());
        arms.means.push(clicks / shows);
        arms.shows.push(shows);
        arms.clicks.push(clicks as f32);
        arms.failures.push((shows - clicks) as f32);
        arms.entropies.push(kl_ucb_entropy(clicks, shows - clicks) as f32);
    }
    arms
}

/// `10^x`; the arguments of a bench need not have the same bits everywhere.
#[expect(clippy::disallowed_methods, reason = "arguments of a bench")]
fn exp10(x: f64) -> f64 {
    10_f64.powf(x)
}

fn libm_round(x: f64) -> f64 {
    x.round()
}

/// Bisection with the textbook formula and the platform's logarithm, which loses digits near the
/// mean.
#[expect(clippy::disallowed_methods, reason = "what ours is compared with")]
fn textbook_bisection(p: f64, n: f64, level: f64) -> f64 {
    let term = |x: f64, y: f64| if x > 0.0 { x * (x / y).ln() } else { 0.0 };
    let (mut low, mut high) = (p, 1.0);
    for _ in 0..53 {
        let q = 0.5 * (low + high);
        *if n * (term(p, q) + term(1.0 - p, 1.0 - q)) > level { &mut high } else { &mut low } = q;
    }
    high
}

impl Arms {
    /// A typical threshold of an inverted test: the tenth best index.
    fn threshold(&self) -> f64 {
        let mut indices: Vec<f64> = self
            .means
            .iter()
            .zip(&self.shows)
            .map(|(&mean, &shows)| kl_ucb_upper(mean, shows, LEVEL))
            .collect();
        indices.sort_by(|a, b| b.total_cmp(a));
        indices[9]
    }

    fn bisection(&self) -> f64 {
        self.each(kl_ucb_upper_bisection)
    }

    fn scalar(&self) -> f64 {
        self.each(kl_ucb_upper)
    }

    fn each(&self, index: impl Fn(f64, f64, f64) -> f64) -> f64 {
        self.means.iter().zip(&self.shows).map(|(&mean, &shows)| index(mean, shows, LEVEL)).sum()
    }

    fn batched(&self, out: &mut [f64]) -> f64 {
        kl_ucb_upper_batch(&self.means, &self.shows, LEVEL, out);
        out[0]
    }

    fn inverted(&self, q: f64) -> usize {
        let mut found = 0;
        let threshold = KlUcbThreshold::new(black_box(q));
        threshold.rough_candidates(&self.entropies, &self.clicks, &self.failures, LEVEL, |arm| found += arm);
        found
    }
}

/// An item's counts by position.
struct Item {
    clicks: Vec<u64>,
    shows: Vec<u64>,
    failures: Vec<f64>,
    total: f64,
    entropy: f64,
}

struct Items {
    examination: Vec<f64>,
    items: Vec<Item>,
}

/// Items shown 10 to 10^4 times or so at each position, clicked as often as the position-based
/// model makes them.
fn items(positions: usize) -> Items {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let examination: Vec<f64> = (0..positions).map(|l| 0.9 / (1.0 + 0.5 * l as f64)).collect();
    let items = (0..256)
        .map(|_| {
            let attraction = rng.random::<f64>() * rng.random::<f64>();
            let largest = 10.0 * exp10(3.5 * rng.random::<f64>());
            let shows: Vec<u64> = (0..positions).map(|_| as_count(largest * rng.random::<f64>())).collect();
            let clicks: Vec<u64> = shows
                .iter()
                .zip(&examination)
                .map(|(&n, kappa)| (0..n).map(|_| u64::from(rng.random::<f64>() < kappa * attraction)).sum())
                .collect();
            let failures: Vec<f64> = shows.iter().zip(&clicks).map(|(n, s)| (n - s) as f64).collect();
            let entropy = (0..positions)
                .map(|l| multi_position_entropy(clicks[l] as f64, failures[l], examination[l]))
                .sum();
            let total = clicks.iter().sum::<u64>() as f64;
            Item { clicks, shows, failures, total, entropy }
        })
        .collect();
    Items { examination, items }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive count")]
fn as_count(x: f64) -> u64 {
    x as u64
}

impl Items {
    fn bisection(&self) -> f64 {
        self.each(multi_position_upper_bisection)
    }

    fn fast(&self) -> f64 {
        self.each(multi_position_upper)
    }

    fn each(&self, index: impl Fn(&[u64], &[u64], &[f64], f64) -> f64) -> f64 {
        self.items.iter().map(|item| index(&item.clicks, &item.shows, &self.examination, LEVEL)).sum()
    }

    fn inverted(&self, threshold: &mut MultiPositionThreshold, q: f64) -> usize {
        threshold.set(black_box(q));
        let excluded = |item: &&Item| threshold.excludes(item.entropy, item.total, &item.failures, LEVEL);
        self.items.iter().filter(excluded).count()
    }
}

fn kl_ucb(c: &mut Criterion) {
    let arms = arms();
    let (mut out, q) = (vec![0.0; ARMS], arms.threshold());
    let mut group = c.benchmark_group("kl_ucb_upper");
    group.throughput(Throughput::Elements(ARMS as u64));
    group.bench_function("bisection", |b| b.iter(|| black_box(&arms).bisection()));
    group.bench_function("bisection, textbook formula", |b| {
        b.iter(|| black_box(&arms).each(textbook_bisection));
    });
    group.bench_function("scalar", |b| b.iter(|| black_box(&arms).scalar()));
    group.bench_function("batched", |b| b.iter(|| black_box(&arms).batched(&mut out)));
    group.bench_function("inverted", |b| b.iter(|| black_box(&arms).inverted(q)));
    group.finish();
}

fn multi_position(c: &mut Criterion) {
    for positions in [3, 10] {
        let items = items(positions);
        let mut threshold = MultiPositionThreshold::new(&items.examination).expect("few positions");
        let mut group = c.benchmark_group(format!("multi_position_upper/{positions}"));
        group.throughput(Throughput::Elements(items.items.len() as u64));
        group.bench_function("bisection", |b| b.iter(|| black_box(&items).bisection()));
        group.bench_function("cold", |b| b.iter(|| black_box(&items).fast()));
        group.bench_function("inverted", |b| b.iter(|| black_box(&items).inverted(&mut threshold, 0.6)));
        group.finish();
    }
}

fn logarithm(c: &mut Criterion) {
    let arms = arms();
    let mut group = c.benchmark_group("ln");
    group.throughput(Throughput::Elements(ARMS as u64));
    group.bench_function("platform", |b| {
        #[expect(clippy::disallowed_methods, reason = "what ours is compared with")]
        b.iter(|| black_box(&arms).shows.iter().map(|n| n.ln()).sum::<f64>());
    });
    group.bench_function("ours", |b| {
        b.iter(|| black_box(&arms).shows.iter().map(|&n| math::ln(n)).sum::<f64>());
    });
    group.finish();
}

criterion_group!(benches, kl_ucb, multi_position, logarithm);

/// The best time of each piece of work, run alternately, in nanoseconds for each of `items`.
#[expect(clippy::disallowed_methods, reason = "measures time")]
fn in_turns(items: usize, work: &mut [(usize, &mut dyn FnMut())]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; work.len()];
    for _ in 0..40 {
        for (best, (repeats, work)) in best.iter_mut().zip(work.iter_mut()) {
            let start = std::time::Instant::now();
            for _ in 0..*repeats {
                work();
            }
            *best = best.min(start.elapsed().as_secs_f64() * 1e9 / (*repeats * items) as f64);
        }
    }
    best
}

fn print_rows(names: &[&str], nanoseconds: &[f64]) {
    for (name, ns) in names.iter().zip(nanoseconds) {
        let ratio = nanoseconds[0] / ns;
        println!(
            "| {name} | {ns:.*} | {ratio:.*} |",
            usize::from(*ns < 10.0) * 2,
            usize::from(ratio < 100.0)
        );
    }
}

fn table() {
    println!("| computation, for one arm | ns | times faster |");
    println!("|---|---|---|");
    let arms = arms();
    let (mut out, q) = (vec![0.0; ARMS], arms.threshold());
    let best = in_turns(
        ARMS,
        &mut [
            (1, &mut || _ = black_box(arms.bisection())),
            (1, &mut || _ = black_box(arms.each(textbook_bisection))),
            (10, &mut || _ = black_box(arms.scalar())),
            (10, &mut || _ = black_box(arms.batched(&mut out))),
            (500, &mut || _ = black_box(arms.inverted(q))),
        ],
    );
    let names = [
        "KL-UCB index, 53 steps of bisection",
        "bisection, textbook formula and platform's logarithm",
        "`kl_ucb_upper`",
        "`kl_ucb_upper_batch`",
        "`KlUcbThreshold::rough_candidates`",
    ];
    print_rows(&names, &best);
    for positions in [3, 10] {
        let items = items(positions);
        let mut threshold = MultiPositionThreshold::new(&items.examination).expect("few positions");
        let best = in_turns(
            items.items.len(),
            &mut [
                (1, &mut || _ = black_box(items.bisection())),
                (10, &mut || _ = black_box(items.fast())),
                (500, &mut || _ = black_box(items.inverted(&mut threshold, 0.6))),
            ],
        );
        let names = [
            format!("multi-position index, {positions} positions, bisection"),
            format!("`multi_position_upper`, {positions} positions"),
            format!("`MultiPositionThreshold`, {positions} positions"),
        ];
        print_rows(&names.each_ref().map(String::as_str), &best);
    }
}

fn main() {
    if std::env::args().any(|argument| argument == "--table") {
        table();
    } else {
        benches();
        Criterion::default().configure_from_args().final_summary();
    }
}
