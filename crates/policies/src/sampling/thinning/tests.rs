//! The law of the lists, for Beta posteriors: thinned rounds against rounds that draw every item (`law.rs`). The wrong versions below are
//! rejected.

use super::law::{Held, Seen, every_item, half_short, thinned};
use super::*;
use crate::sampling::beta_posteriors::BetaPosteriors;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

type Counts = Vec<(f64, f64)>;

/// Posteriors of 200 items.
fn catalogues() -> [(&'static str, Counts); 8] {
    let of = |counts: fn(u32) -> (u32, u32)| -> Counts {
        let counts = (0..200).map(counts);
        counts.map(|(successes, failures)| (f64::from(successes), f64::from(failures))).collect()
    };
    [
        ("no rounds", of(|_| (0, 0))),
        ("no successes", of(|item| (0, item % 7))),
        ("successes only", of(|item| (item % 5, 0))),
        ("few rounds", of(|item| (u32::from(item % 4 == 0) + item % 3 / 2, item % 11))),
        ("two classes", of(|item| if item % 2 == 0 { (20, 40) } else { (2, 7) })),
        (
            "leaders",
            of(|item| if item % 40 == 0 { (9_000 + item, 21_000) } else { (item % 2, 25 + item % 9) }),
        ),
        ("tens of thousands of rounds", of(|item| (3_000 + 7 * item, 30_000 + item % 3))),
        ("fractions", (0..200_u32).map(|item| (f64::from(item % 6), 0.37 * f64::from(item % 31))).collect()),
    ]
}

#[test]
fn thinned_rounds_have_the_law_of_plain_ones() {
    let (mut rare, mut common) = (0, 0);
    for (name, counts) in catalogues() {
        let posteriors = BetaPosteriors::new(counts.into_iter());
        let lengths = [1, 5];
        for (n_positions, expected) in lengths.into_iter().zip(every_item(&posteriors, lengths)) {
            let mut moves = vec![-1.0, 0.0, half_short(&posteriors, n_positions)];
            // No draw is above, and all are drawn as plain ones are: for one length, and two posteriors.
            let is_extreme = n_positions == 5 && ["no rounds", "successes only"].contains(&name);
            moves.extend(is_extreme.then_some(30.0));
            for moved in moves {
                let (seen, share) = thinned(&posteriors, n_positions, moved);
                let p = expected.compare(&seen);
                println!("{name}, {n_positions}, moved by {moved}: short {share}, p {p:e}");
                assert!(p > 1e-6, "{name}, {n_positions} positions, moved by {moved}: {p:e}");
                rare += u32::from(share < 0.01);
                common += u32::from(share > 0.2 && share < 0.8);
                assert!(moved != 0.0 || share < 0.01, "{name}: a share of {share} is short");
            }
        }
    }
    assert!(rare >= 32 && common >= 16, "{rare}, {common}");
}

/// Posteriors that accept every candidate, or have a bound that is too small.
struct Wrong {
    right: BetaPosteriors,
    accepts_all: bool,
    bound: f64,
}

impl Posteriors for Wrong {
    fn n_items(&self) -> usize {
        self.right.n_items()
    }

    fn draw<R: Rng + ?Sized>(&self, item: usize, sampler: Sampler, rng: &mut R) -> f64 {
        self.right.draw(item, sampler, rng)
    }

    fn bound(&self, item: usize, threshold: &Threshold) -> f64 {
        self.bound * self.right.bound(item, threshold)
    }

    fn draw_above<R: Rng + ?Sized>(
        &self,
        item: usize,
        threshold: &Threshold,
        least: f64,
        rng: &mut R,
    ) -> Option<f64> {
        loop {
            let draw = self.right.draw_above(item, threshold, 0.0, rng);
            if draw.is_some() || !self.accepts_all {
                return draw.filter(|&draw| draw >= least);
            }
        }
    }

    fn chance(&self, item: usize, threshold: &Threshold) -> f64 {
        self.right.chance(item, threshold)
    }

    fn hash(&self, item: usize) -> u64 {
        self.right.hash(item)
    }

    fn is_like(&self, item: usize, other: usize) -> bool {
        self.right.is_like(item, other)
    }
}

#[test]
fn wrong_versions_are_rejected() {
    let counts = catalogues().into_iter().find(|(name, _)| *name == "two classes").expect("one of them").1;
    let wrong = |accepts_all, bound| {
        let right = BetaPosteriors::new(counts.clone().into_iter());
        Wrong { right, accepts_all, bound }
    };
    let right = wrong(false, 1.0);
    let [expected] = every_item(&right.right, [5]);
    let p = |wrong: &Wrong| expected.compare(&thinned(wrong, 5, 0.0).0);
    assert!(p(&right) > 1e-6);
    let found = p(&wrong(true, 1.0));
    assert!(found < 1e-6, "every candidate accepted: {found:e}");
    let found = p(&wrong(false, 0.8));
    assert!(found < 1e-6, "a bound below the probability: {found:e}");
    // A round that is played again when it is short has a threshold that depends on its draws.
    let mut held = Held::new(&right, 5, half_short(&right, 5));
    let again = Seen::of(200, 5, |top| while held.round(&right, top) {});
    let found = expected.compare(&again);
    assert!(found < 1e-6, "short rounds played again: {found:e}");
}

/// With counts that change: every rate, bucket and sum is that of a thinning that was just restored.
#[test]
fn rates_stay_those_of_the_counts() {
    let mut posteriors = BetaPosteriors::new((0..400).map(|_| (0.0, 0.0)));
    let mut counts = vec![(0.0, 0.0); 400];
    let mut thinning = Thinning::new(&posteriors, 4);
    let mut top = TopL::new(4);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    for round in 0..20_000 {
        thinning.select(&posteriors, &mut top, &mut rng);
        for &(_, item) in top.best() {
            let seen = &mut counts[item as usize];
            let chance = 0.3 * f64::from(item) / 400.0;
            *(if rng.random::<f64>() < chance { &mut seen.0 } else { &mut seen.1 }) += 1.0;
            posteriors.set(item as usize, *seen);
            thinning.update(&posteriors, item as usize);
        }
        if round % 500 == 0 {
            let saved = serde_json::to_string(&thinning.to_save()).expect("saved");
            let saved = serde_json::from_str(&saved).expect("read");
            let restored = Thinning::restore(&saved, &posteriors, 4).expect("restored");
            assert_eq!(restored.buckets, thinning.buckets);
        }
    }
}
