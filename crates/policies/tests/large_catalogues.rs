//! Thompson sampling that thins its draws: the curves of thinned policies are those of policies
//! that draw every item.
//!
//! Each plays 30 runs of 500 rounds with many items, or 150 runs of 3,000 rounds with 24, whose
//! draws are not thinned before round 1,025. The mean regret at three checkpoints is compared, at
//! five standard errors: of all 15 comparisons some fails by chance with probability 9e-5
//! (Student's t, 58 degrees of freedom or more). Power: a regret that is off by 7.4 standard
//! errors, which is between 2 and 5 % of it with many items and between 13 and 19 % with 24 (the
//! test prints it), is seen with a probability of .99. A policy whose items count every display
//! twice is rejected. The effect of thousands of displays on the distribution of a round is tested
//! at fixed counts, in `sampling::thinning`.

use crate::support::generator;
use click_models::{
    ClickModel, Feedback, Interaction, PbmFeedback, PositionBased, RandomSemiBandit, Ranking,
};
use policies::{BcMpTs, Decision, PbmTs, Policy, PrefixTs, Select, Update};
use rand::{Rng, RngExt};

/// Runs, and the rounds in which regret is compared.
#[derive(Clone, Copy)]
struct Extent {
    runs: u64,
    checkpoints: [u32; 3],
}

const MANY_ITEMS: Extent = Extent { runs: 30, checkpoints: [100, 250, 500] };
const FEW_ITEMS: Extent = Extent { runs: 150, checkpoints: [1_500, 2_000, 3_000] };
const EXAMINATION: [f64; 4] = [1.0, 0.8, 0.5, 0.4];

fn attraction(n_items: usize) -> Vec<f64> {
    let mut rng = generator(5);
    (0..n_items).map(|_| 0.8 * rng.random::<f64>() * rng.random::<f64>()).collect()
}

/// Mean regret at every checkpoint, and its variance.
fn curve<M, P>(
    Extent { runs, checkpoints }: Extent,
    model: &M,
    seed: u64,
    fresh: impl Fn() -> P,
) -> Vec<(f64, f64)>
where
    M: ClickModel,
    M::Interaction: Interaction<Action = Ranking>,
    P: Policy<M::Interaction>,
{
    let mut sums = vec![(0.0, 0.0); checkpoints.len()];
    for run in 0..runs {
        let [mut rng, mut users] = [2 * run, 2 * run + 1].map(|stream| generator(1000 * seed + stream));
        let mut policy = fresh();
        let mut decision = Decision::default();
        let (mut regret, mut round) = (0.0, 0);
        for (&checkpoint, (sum, squares)) in checkpoints.iter().zip(&mut sums) {
            while round < checkpoint {
                policy.select(&mut rng, &mut decision);
                regret += model.gap(&decision.action);
                let feedback: Feedback<M> = model.respond(&decision.action, &mut users);
                policy.update(&decision, &feedback);
                round += 1;
            }
            *sum += regret;
            *squares += regret * regret;
        }
    }
    let runs = runs as f64;
    let mean =
        |(sum, squares): (f64, f64)| (sum / runs, (squares / runs - (sum / runs).powi(2)) / (runs - 1.0));
    sums.into_iter().map(mean).collect()
}

/// The largest difference in standard errors; prints 7.4 standard errors as a share of the regret.
fn largest_z(name: &str, one: &[(f64, f64)], other: &[(f64, f64)]) -> f64 {
    let mut largest = 0.0_f64;
    for ((mean, error), (other, other_error)) in one.iter().zip(other) {
        let error = (error + other_error).sqrt();
        println!("{name}: {mean:.1}, {other:.1}, seen: {:.1} %", 740.0 * error / mean);
        largest = largest.max((mean - other).abs() / error);
    }
    largest
}

#[test]
fn thinned_policies_have_the_regret_of_plain_ones() {
    let semi_bandit = RandomSemiBandit::from_values(&attraction(520), &EXAMINATION).expect("valid");
    let shape = semi_bandit.shape();
    let thinned = curve(MANY_ITEMS, &semi_bandit, 1, || PrefixTs::new(shape));
    let plain = curve(MANY_ITEMS, &semi_bandit, 2, || PrefixTs::new(shape).drawing_all());
    assert!(largest_z("rsf-ts", &thinned, &plain) < 5.0);

    let users = PositionBased::from_values(&attraction(520), &EXAMINATION).expect("valid");
    let thinned = curve(MANY_ITEMS, &users, 3, || BcMpTs::new(users.known()));
    let plain = curve(MANY_ITEMS, &users, 4, || BcMpTs::new(users.known()).drawing_all());
    assert!(largest_z("bc-mp-ts", &thinned, &plain) < 5.0);

    let thinned = curve(MANY_ITEMS, &users, 5, || PbmTs::new(users.known()));
    let plain = curve(MANY_ITEMS, &users, 6, || PbmTs::new(users.known()).drawing_all());
    assert!(largest_z("pbm-ts", &thinned, &plain) < 5.0);
    let twice = curve(MANY_ITEMS, &users, 7, || Twice(PbmTs::new(users.known())));
    assert!(largest_z("pbm-ts, every display twice", &twice, &plain) > 5.0);
}

/// The generators are the same: up to the round from which draws are thinned, so are the runs. The
/// difference then has less variance than the test takes it to have.
#[test]
fn policies_that_thin_few_items_have_the_regret_of_plain_ones() {
    let semi_bandit = RandomSemiBandit::from_values(&attraction(24), &EXAMINATION).expect("valid");
    let shape = semi_bandit.shape();
    let thinned = curve(FEW_ITEMS, &semi_bandit, 1, || PrefixTs::new(shape));
    let plain = curve(FEW_ITEMS, &semi_bandit, 1, || PrefixTs::new(shape).drawing_all());
    assert!(largest_z("rsf-ts", &thinned, &plain) < 5.0);

    let users = PositionBased::from_values(&attraction(24), &EXAMINATION).expect("valid");
    let thinned = curve(FEW_ITEMS, &users, 2, || BcMpTs::new(users.known()));
    let plain = curve(FEW_ITEMS, &users, 2, || BcMpTs::new(users.known()).drawing_all());
    assert!(largest_z("bc-mp-ts", &thinned, &plain) < 5.0);
}

/// Learns from every answer twice.
struct Twice(PbmTs);

impl Select<Ranking> for Twice {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        self.0.select(rng, out);
    }
}

impl Update<Ranking, PbmFeedback> for Twice {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &PbmFeedback) {
        self.0.update(decision, feedback);
        self.0.update(decision, feedback);
    }
}
