//! The weights of the `CascadeBAI` paper's Table E.1, linear weights, and how long policies play on
//! them.

use click_models::{CascadeFeedback, CascadeModel, ClickModel, ItemId, Ranking};
use policies::{Decision, Stop, Update};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::ops::ControlFlow;

/// Policies that cascade users can play with.
pub trait ForCascades: Update<Ranking, CascadeFeedback, Note = ()> {}

impl<P: Update<Ranking, CascadeFeedback, Note = ()>> ForCascades for P {}

/// Names and weights, best items first: rows of Table E.1, and `linear`, attractions from 0.9 to
/// 0.05.
pub fn instances(n_items: usize, n_best: usize) -> Vec<(&'static str, Vec<f64>)> {
    let k = n_best as f64;
    let rows = [
        ("1", 1.0 / k, 1.0 / (k * k)),
        ("2", 1.0 - 1.0 / (k * k), 1.0 - 1.0 / k),
        ("3", 1.0 / k.sqrt(), 1.0 / k),
        ("4", 1.0 - 1.0 / k, 1.0 - 1.0 / k.sqrt()),
        ("5", 1.0 - 1.0 / k, 1.0 / k),
    ];
    let two_kinds = |best: f64, others: f64| -> Vec<f64> {
        (0..n_items).map(|item| if item < n_best { best } else { others }).collect()
    };
    let linear = (0..n_items).map(|item| 0.9 - 0.85 * item as f64 / (n_items - 1) as f64).collect();
    let mut instances: Vec<(&str, Vec<f64>)> =
        rows.iter().map(|&(name, best, others)| (name, two_kinds(best, others))).collect();
    instances.push(("linear", linear));
    instances
}

/// The generator of users and policy in a run.
pub fn generator(run: usize) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(1_000_000 + run as u64)
}

/// The rounds until a policy stops.
#[derive(Debug)]
pub struct Times {
    /// Their mean.
    pub mean: f64,
    /// Standard error of the mean.
    pub error: f64,
    /// Runs with a wrong answer.
    pub wrong: u32,
}

/// Plays until the policy stops, in every run.
pub fn times<P>(users: &CascadeModel, runs: usize, fresh: impl Fn() -> P) -> Times
where
    P: ForCascades + Stop<Answer = Vec<ItemId>>,
{
    let best: Vec<ItemId> = (0..users.shape().n_positions()).map(ItemId::from_index).collect();
    let (mut total, mut squares, mut wrong) = (0.0, 0.0, 0);
    for run in 0..runs {
        let (mut policy, mut rng, mut decision) = (fresh(), generator(run), Decision::default());
        let mut rounds = 0_u64;
        let answer = loop {
            if let ControlFlow::Break(answer) = policy.check() {
                break answer;
            }
            policy.select(&mut rng, &mut decision);
            let answer = users.respond(&decision.action, &mut rng);
            policy.update(&decision, &answer);
            rounds += 1;
        };
        wrong += u32::from(answer != best);
        total += rounds as f64;
        squares += (rounds * rounds) as f64;
    }
    let n = runs as f64;
    let mean = total / n;
    Times { mean, error: ((squares / n - mean * mean) / n).sqrt(), wrong }
}

/// Prints a row of a table: mean rounds with their standard errors, and the ratios of these pairs
/// of columns.
pub fn print_row(head: &str, columns: &[Times], ratios: &[(usize, usize)]) {
    let means = columns.iter().map(|times| format!("{:.0} ± {:.0}", times.mean, times.error));
    let ratios = ratios.iter().map(|&(above, below)| {
        let (above, below) = (&columns[above], &columns[below]);
        let ratio = above.mean / below.mean;
        let error = ratio * (above.error / above.mean).hypot(below.error / below.mean);
        format!("{ratio:.2} ± {error:.2}")
    });
    println!("| {head} | {} |", means.chain(ratios).collect::<Vec<_>>().join(" | "));
    let wrong: u32 = columns.iter().map(|times| times.wrong).sum();
    if wrong > 0 {
        println!("{wrong} wrong answers");
    }
}
