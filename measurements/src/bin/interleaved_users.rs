//! Which of two rankers do users prefer? An A/B test that is checked after every user and stops at
//! the first significant difference.
//!
//! ```text
//! cargo run --release -p measurements --bin interleaved_users
//! ```
//!
//! The rankers are features of the synthetic collection, and the users are simulated and
//! navigational. Everything else works as in a service: the interleaved list and its note are
//! stored with the page, the clicks come back, and the test receives the outcome. The program first
//! shows one experiment in detail. Then it prints, for each interleaving method, how many users an
//! experiment takes, how often it declares the worse ranker better, and how often it finds a
//! difference between a ranker and itself.

use interleaving::{
    Balanced, InterleavedList, Interleaving, Outcome, PairTest, Probabilistic, RankedCollection, RankedPair,
    ScanningUser, Synthetic, TeamDraft, Verdict,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Probability of a false alarm.
const MISS: f64 = 0.05;
const LIST_LENGTH: usize = 10;
const EXPERIMENTS: u64 = 400;
/// Number of users after which an experiment is given up.
const PATIENCE: u64 = 50_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let queries = Synthetic::default().queries()?;
    let features: Vec<usize> = (0..queries[0].n_features()).collect();
    let rankers = RankedCollection::by_features(&queries, &features, 1)?;

    let (better, worse) = (48, 44);
    println!("ranker {better} against ranker {worse}, probabilistic interleaving:");
    let mut method = Probabilistic::default();
    let mut page = InterleavedList::default();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut test = PairTest::new(MISS)?;
    for users in 1..=PATIENCE {
        let outcome = one_user(&rankers, better, worse, &mut method, &mut page, &mut rng)?;
        let verdict = test.observe(outcome);
        if users.is_power_of_two() || verdict != Verdict::Undecided {
            let (tally, share) = (test.tally(), test.first_share());
            println!(
                "after {users:5} users {:4} : {:4}, {:4} ties; the first has {:.3} to {:.3} of what is no tie",
                tally.first, tally.second, tally.ties, share.lower, share.upper
            );
        }
        if verdict != Verdict::Undecided {
            println!("stopped: {verdict:?} is better");
            break;
        }
    }

    println!("\n{EXPERIMENTS} experiments each, given up after {PATIENCE} users:");
    println!("interleaving   users (median)  undecided  worse found better  itself found different");
    repeat("balanced", Balanced, &rankers, better, worse)?;
    repeat("team draft", TeamDraft, &rankers, better, worse)?;
    repeat("probabilistic", Probabilistic::default(), &rankers, better, worse)
}

/// Shows an interleaved list to a user and returns the outcome.
fn one_user<I: Interleaving>(
    rankers: &RankedCollection,
    first: usize,
    second: usize,
    method: &mut I,
    page: &mut InterleavedList<I::Note>,
    rng: &mut Xoshiro256PlusPlus,
) -> Result<Outcome, interleaving::Error> {
    let query = &rankers.queries()[rng.random_range(0..rankers.queries().len())];
    let pair = RankedPair::new(&query.rankings()[first], &query.rankings()[second])?;
    method.interleave(pair, LIST_LENGTH, rng, page);
    let labels = page.documents.iter().map(|&document| query.labels()[document as usize]);
    let clicks = ScanningUser::navigational().scan(labels, rng);
    Ok(method.outcome(page, clicks))
}

fn repeat<I: Interleaving>(
    name: &str,
    mut method: I,
    rankers: &RankedCollection,
    better: usize,
    worse: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut page = InterleavedList::default();
    let mut experiment = |seed, second, patience| -> Result<_, Box<dyn std::error::Error>> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut test = PairTest::new(MISS)?;
        for users in 1..=patience {
            let outcome = one_user(rankers, better, second, &mut method, &mut page, &mut rng)?;
            let verdict = test.observe(outcome);
            if verdict != Verdict::Undecided {
                return Ok((verdict, users));
            }
        }
        Ok((Verdict::Undecided, patience))
    };
    let (mut users, mut undecided, mut wrong, mut different) = (Vec::new(), 0, 0, 0);
    for seed in 0..EXPERIMENTS {
        let (verdict, after) = experiment(seed, worse, PATIENCE)?;
        users.push(after);
        undecided += u32::from(verdict == Verdict::Undecided);
        wrong += u32::from(verdict == Verdict::Second);
        // Fewer users, since this test hardly ever stops.
        different += u32::from(experiment(seed, better, PATIENCE / 10)?.0 != Verdict::Undecided);
    }
    users.sort_unstable();
    println!("{name:13}  {:14}  {undecided:9}  {wrong:18}  {different:22}", users[users.len() / 2]);
    Ok(())
}
