//! The distribution of the lists among items that come and go, after four priors: thinned rounds
//! against rounds that draw every available item, at the same counts and among the same random sets
//! (`law.rs` has the tests and their power).
//!
//! A version in which the rates of new items stay 0 is rejected, and so is one in which returning
//! items are forgotten.

use super::super::{Late, Present};
use super::*;
use crate::Prior;
use crate::live::{Values, present_items};
use click_models::{ItemId, ItemSet};
use rand::RngExt;

const N_ITEMS: u32 = 150;
const N_NEW: u32 = 12;
const N_POSITIONS: usize = 5;

/// The fault that is made when items come.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    NewOnes,
    ReturningOnes,
}

/// A thinning that met its items one after the other.
struct Catalogue {
    posteriors: BetaPosteriors,
    absent: ItemSet,
    thinning: Thinning,
    late: Late,
}

impl Catalogue {
    fn new(prior: Prior, fault: Fault) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
        let mut posteriors = BetaPosteriors::with_prior(prior, (0..N_ITEMS).map(|_| (0.0, 0.0)));
        let mut absent = ItemSet::none((N_ITEMS + N_NEW) as usize);
        let mut thinning = Thinning::new(&posteriors, N_POSITIONS, Pace::Eager);
        let (mut top, mut late) = (TopL::new(N_POSITIONS), Late { share: 1.0, drawn: 0 });
        let mut counts = vec![(0.0, 0.0); N_ITEMS as usize];
        let mut sets = Sets::new(4);
        for round in 0..3000 {
            let item = rng.random_range(0..N_ITEMS as usize);
            match round % 100 {
                7 | 8 => {
                    absent.insert(ItemId::from_index(item));
                    thinning.leave(item);
                }
                _ => {}
            }
            let present = Present { posteriors: &posteriors, absent: &absent, values: &Values::default() };
            thinning.select_among(&present, sets.next(), &mut late, &mut top, &mut rng);
            for &(_, item) in &top.best {
                let seen = &mut counts[item as usize];
                let clicked = rng.random_range(0..N_ITEMS) + 40 < item % 90;
                *(if clicked { &mut seen.0 } else { &mut seen.1 }) += 1.0;
                posteriors.set(item as usize, *seen);
                thinning.update(
                    &Present { posteriors: &posteriors, absent: &absent, values: &Values::default() },
                    item as usize,
                );
            }
        }
        assert!(absent.len() > 20 && !thinning.buckets.all_in_full());
        // Some are back with their counts, and there are new ones, of which some have clicks.
        let back: Vec<ItemId> = absent.iter().step_by(2).collect();
        for (place, item) in back.into_iter().enumerate() {
            absent.remove(item);
            // Far from above the threshold, or a rate of 0 would be a draw below it without end.
            posteriors.set(item.index(), (2.0 + (place % 3) as f64, 8.0));
            if fault != Fault::ReturningOnes {
                thinning.update(
                    &Present { posteriors: &posteriors, absent: &absent, values: &Values::default() },
                    item.index(),
                );
            }
        }
        for item in N_ITEMS..N_ITEMS + N_NEW {
            posteriors.push((f64::from(item % 3), f64::from(item % 5)));
            thinning.push();
            if fault != Fault::NewOnes {
                thinning.update(
                    &Present { posteriors: &posteriors, absent: &absent, values: &Values::default() },
                    item as usize,
                );
            }
        }
        Self { posteriors, absent, thinning, late }
    }

    /// Rounds at fixed counts and a threshold this much in log-odds above that of the past rounds;
    /// with the share of short ones.
    fn thinned(&self, moved: f64) -> (Seen, f64) {
        let (mut rng, mut sets) = (Xoshiro256PlusPlus::seed_from_u64(9), Sets::new(10));
        let present =
            Present { posteriors: &self.posteriors, absent: &self.absent, values: &Values::default() };
        let (mut thinning, mut n_short, mut n_rounds) = (self.thinning.clone(), 0_u32, 0_u32);
        let mut late = self.late;
        if moved > 0.0 {
            let value = thinning.threshold.value;
            let threshold = Threshold::near(1.0 / (1.0 + (1.0 / value - 1.0) * libm::exp(-moved)));
            thinning.threshold = threshold;
            thinning.buckets.fill(|item| rate(present.bound(item, &threshold)));
        }
        let seen = Seen::of((N_ITEMS + N_NEW) as usize, N_POSITIONS, |top| {
            // Without a search, whose rates are those of the counts.
            (thinning.least, thinning.most, thinning.next_search) = (0, u64::MAX, u64::MAX);
            late.drawn = 0;
            thinning.select_among(&present, sets.next(), &mut late, top, &mut rng);
            n_short += u32::from(late.drawn > 0);
            n_rounds += 1;
        });
        (seen, f64::from(n_short) / f64::from(n_rounds))
    }

    /// With a search whenever one is due.
    fn thinned_with_searches(&self) -> Seen {
        let (mut rng, mut sets) = (Xoshiro256PlusPlus::seed_from_u64(12), Sets::new(10));
        let present =
            Present { posteriors: &self.posteriors, absent: &self.absent, values: &Values::default() };
        let (mut thinning, mut late) = (self.thinning.clone(), self.late);
        Seen::of((N_ITEMS + N_NEW) as usize, N_POSITIONS, |top| {
            thinning.select_among(&present, sets.next(), &mut late, top, &mut rng);
        })
    }

    fn drawing_all(&self) -> Seen {
        let (mut rng, mut sets) = (Xoshiro256PlusPlus::seed_from_u64(11), Sets::new(10));
        let n_items = (N_ITEMS + N_NEW) as usize;
        Seen::of(n_items, N_POSITIONS, |top| {
            let ties = Ties::draw(&mut rng);
            top.clear();
            for item in present_items(sets.next(), &self.absent, n_items) {
                let draw = self.posteriors.draw(item.index(), Sampler::new(), &mut rng);
                top.offer(item.number(), draw, ties);
            }
        })
    }
}

/// Random sets, of a tenth up to all of the items; each has the absent ones like others.
struct Sets {
    rng: Xoshiro256PlusPlus,
    set: ItemSet,
}

impl Sets {
    fn new(seed: u64) -> Self {
        let set = ItemSet::none((N_ITEMS + N_NEW) as usize);
        Self { rng: Xoshiro256PlusPlus::seed_from_u64(seed), set }
    }

    fn next(&mut self) -> &ItemSet {
        let share = [0.2, 0.5, 0.8, 1.0][self.rng.random_range(0..4)];
        self.set.clear();
        for item in 0..N_ITEMS + N_NEW {
            if self.rng.random::<f64>() < share {
                self.set.insert(ItemId::new(item));
            }
        }
        &self.set
    }
}

#[test]
fn thinned_rounds_among_some_items_have_the_law_of_plain_ones() {
    for (a, b) in [(1.0, 1.0), (0.3, 2.7), (0.05, 1.0), (2.5, 17.5)] {
        let prior = Prior::new(a, b).expect("a prior");
        let right = Catalogue::new(prior, Fault::None);
        let expected = right.drawing_all();
        let mut most_short = 0.0_f64;
        for moved in [0.0, 0.5, 1.0, 1.5] {
            let (seen, share) = right.thinned(moved);
            let p = expected.compare(&seen);
            println!("Beta({a}, {b}), moved by {moved}: short {share}, p {p:e}");
            assert!(p > 1e-6, "Beta({a}, {b}): {p:e}");
            assert!(moved > 0.0 || share < 0.1, "Beta({a}, {b}): {share} of the rounds are short");
            most_short = most_short.max(share);
        }
        assert!(most_short > 0.1, "Beta({a}, {b}): {most_short} of the rounds are short");
        let p = expected.compare(&right.thinned_with_searches());
        assert!(p > 1e-6, "Beta({a}, {b}), with searches: {p:e}");
        for fault in [Fault::NewOnes, Fault::ReturningOnes] {
            let p = expected.compare(&Catalogue::new(prior, fault).thinned(0.0).0);
            assert!(p < 1e-6, "Beta({a}, {b}), a fault is not seen: {p:e}");
        }
    }
}
