//! Speed of policies that see who asks for a list: selections, and lists learned, per CPU-second.
//!
//! ```text
//! cargo run --release -p measurements --bin context_speed
//! ```
//!
//! Lists of 12, all of whose items are examined. D is the number of products of features. Medians
//! of five blocks of about .4 CPU-seconds.

use click_models::{Clicks, Context, ContextKnown, ItemId, ListShape, PrefixFeedback, Ranking};
use confidence::NonNegative;
use policies::{CascadeLinear, Decision, HybridSettings, HybridTs, PolicyFor, SelectFor};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::time::{ClockId, clock_gettime};

const N_POSITIONS: usize = 12;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("| policy | selections, 1,000 items | 10,000 items | lists learned |\n|---|---|---|---|");
    for (n_of_user, n_of_item) in [(3, 4), (9, 9), (19, 19)] {
        let n_products = (n_of_user + 1) * (n_of_item + 1);
        let hybrid = |known: ContextKnown<'_>, shape| HybridTs::new(shape, known, HybridSettings::default());
        row(&format!("`hybrid-ts`, D = {n_products}"), [n_of_user, n_of_item, 1], hybrid)?;
    }
    let hybrid = |known: ContextKnown<'_>, shape| HybridTs::new(shape, known, HybridSettings::default());
    row("`hybrid-ts`, 100 segments", [0, 0, 100], hybrid)?;
    let (width, sigma) = (CascadeLinear::default_width(), NonNegative::from_count(1));
    let linear = |known: ContextKnown<'_>, shape| CascadeLinear::ucb(shape, known, width, sigma);
    row("`cascade-lin-ucb`, D = 100", [9, 9, 1], linear)?;
    Ok(())
}

/// Prints the rates of a policy, for these numbers of user features, item features, and segments.
fn row<P>(
    name: &str,
    sizes: [usize; 3],
    fresh: impl Fn(ContextKnown<'_>, ListShape) -> Result<P, policies::Error>,
) -> Result<(), Box<dyn std::error::Error>>
where
    P: PolicyFor<click_models::SemiBandit> + SelectFor<Ranking, Note = Context>,
{
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut cells = vec![];
    let mut learned = 0.0;
    for n_items in [1_000, 10_000] {
        let [n_of_user, n_of_item, n_segments] = sizes;
        let features = numbers(n_items * n_of_item, &mut rng);
        let known = ContextKnown::new(n_items, &features)?.with_user_features(n_of_user);
        let known = known.with_segments(u32::try_from(n_segments)?);
        let mut policy = fresh(known, ListShape::new(n_items, N_POSITIONS)?)?;
        let mut decision = Decision::<Ranking, Context>::default();
        let mut feedback = PrefixFeedback { clicks: Clicks::new(N_POSITIONS) };
        let mut user = || Context {
            segment: rng.random_range(0..u32::try_from(n_segments).unwrap_or(1)),
            features: numbers(n_of_user, &mut rng),
        };
        let users: Vec<Context> = (0..256).map(|_| user()).collect();
        let mut round = 0;
        let learning = rate(|| {
            round += 1;
            decision.note.clone_from(&users[round % users.len()]);
            let first = 13 * round;
            decision.action =
                (0..N_POSITIONS).map(|place| ItemId::from_index((first + place) % n_items)).collect();
            feedback.clicks = Clicks::new(N_POSITIONS).with(round % N_POSITIONS);
            policy.update_for(&decision, &feedback);
        });
        if n_items == 1_000 {
            learned = learning;
        }
        let mut draws = Xoshiro256PlusPlus::seed_from_u64(2);
        cells.push(rate(|| {
            round += 1;
            policy.select_for(&users[round % users.len()], &mut draws, &mut decision);
        }));
    }
    println!("| {name} | {:.0} | {:.0} | {learned:.0} |", cells[0], cells[1]);
    Ok(())
}

fn numbers(n: usize, rng: &mut impl Rng) -> Vec<f64> {
    (0..n).map(|_| rng.random::<f64>() * 2.0 - 1.0).collect()
}

/// How often a function runs in a CPU-second: the median of five blocks.
fn rate(mut run: impl FnMut()) -> f64 {
    let mut rates: Vec<f64> = (0..5)
        .map(|_| {
            let (begin, mut n) = (cpu_seconds(), 0);
            loop {
                run();
                n += 1;
                let elapsed = cpu_seconds() - begin;
                if elapsed > 0.4 {
                    return f64::from(n) / elapsed;
                }
            }
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    rates[2]
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
