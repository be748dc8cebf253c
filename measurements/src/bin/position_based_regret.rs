//! Regret of a policy on position-based users: mean, standard error, and the worst runs.
//!
//! `cargo run --release -p measurements --bin position_based_regret -- POLICY RUNS ROUNDS THETA
//! KAPPA [THETA KAPPA ..]`, for instance `pbm-gibbs 320 100000 .45,.35,.25,.15,.05 .9,.6,.3`.
//! Policies that know examination know the true one. Prints a line for each pair of attraction
//! and examination.

use click_models::{ClickModel, Pbm, PositionBased};
use policies::{Decision, NamedPolicy, PolicySpec, Select, Update};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::error::Error;
use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "measures time, to print it")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [policy, runs, rounds, instances @ ..] = arguments.as_slice() else {
        return Err("expected POLICY RUNS ROUNDS THETA KAPPA".into());
    };
    let (spec, runs, rounds): (PolicySpec, u64, u64) = (policy.parse()?, runs.parse()?, rounds.parse()?);
    for instance in instances.chunks_exact(2) {
        let users = PositionBased::from_values(&numbers(&instance[0])?, &numbers(&instance[1])?)?;
        let begun = Instant::now();
        let mut regrets =
            (0..runs).map(|run| regret(&users, spec, run, rounds)).collect::<Result<Vec<_>, _>>()?;
        let seconds = begun.elapsed().as_secs_f64();
        regrets.sort_by(f64::total_cmp);
        let n = regrets.len() as f64;
        let mean = regrets.iter().sum::<f64>() / n;
        let spread: f64 = regrets.iter().map(|regret| (regret - mean) * (regret - mean)).sum();
        let worst: Vec<String> = regrets.iter().rev().take(4).map(|regret| format!("{regret:.0}")).collect();
        println!(
            "{spec} on {}: {mean:.2} +- {:.2} in {runs} runs, worst {}; {:.0} rounds a second",
            instance[0],
            (spread / (n - 1.0) / n).sqrt(),
            worst.join(" "),
            n * rounds as f64 / seconds
        );
    }
    Ok(())
}

fn numbers(text: &str) -> Result<Vec<f64>, std::num::ParseFloatError> {
    text.split(',').map(str::parse).collect()
}

/// The regret of a run. The same users answer every policy.
fn regret(users: &PositionBased, spec: PolicySpec, run: u64, rounds: u64) -> Result<f64, Box<dyn Error>> {
    let [mut rng, mut answers] = [2 * run + 1, 2 * run + 2].map(Xoshiro256PlusPlus::seed_from_u64);
    let mut policy = NamedPolicy::<Pbm>::build(spec, users.known(), rounds)?;
    let mut decision = Decision::default();
    let mut regret = 0.0;
    for _ in 0..rounds {
        policy.select(&mut rng, &mut decision);
        regret += users.gap(&decision.action);
        policy.update(&decision, &users.respond(&decision.action, &mut answers));
    }
    Ok(regret)
}
