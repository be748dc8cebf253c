//! Relabelling the items relabels the choices.
//!
//! Which item wins a tie depends on its number, by a hash, so two runs that differ in the numbers
//! alone need not be each other's image; their distributions must be. Every policy for lists plays
//! 250 runs of 60 rounds on users and on their relabelled image, and how often each item stands at
//! each position is compared. Of 1,500 differences, as good as normal, some is beyond 6.5 standard
//! errors by chance with probability 1.2e-7. With a standard deviation of about 10 displays a run,
//! a difference of 8 of 60 displays is seen with a probability of .99.

use super::trials::{Extent, Trial, trial, trials};
use super::users::Users;
use crate::support::generator;
use click_models::{CascadeModel, ItemId, ListShape, ObservedPrefix, Ranking};
use policies::{Decision, Select, Update};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use std::rc::Rc;

const RUNS: u32 = 250;
const ROUNDS: u32 = 60;
const ATTRACTION: [f64; 5] = [0.6, 0.5, 0.3, 0.2, 0.1];
const EXAMINATION: [f64; 3] = [0.9, 0.3, 0.6];
/// The new number of every item, and the old one of every new one.
const LABELS: [usize; 5] = [3, 0, 4, 2, 1];
const OLD: [usize; 5] = [1, 4, 3, 0, 2];

fn relabelled() -> [f64; 5] {
    OLD.map(|item| ATTRACTION[item])
}

/// Displays of every item at every position: the sum over the runs, and the sum of squares.
type Displays = [[(f64, f64); EXAMINATION.len()]; ATTRACTION.len()];

/// The lists of a policy, by the given labels.
fn displays(trial: &dyn Trial, seed: u64, labels: [usize; 5]) -> Displays {
    let mut rng = generator(seed);
    let mut displays = Displays::default();
    for _ in 0..RUNS {
        let mut trial = trial.copy();
        trial.reseed(rng.random::<u64>() >> 1);
        let mut run = [[0.0; EXAMINATION.len()]; ATTRACTION.len()];
        for _ in 0..ROUNDS {
            trial.round();
            for (position, item) in trial.choice().into_iter().enumerate() {
                run[labels[item]][position] += 1.0;
            }
        }
        for ((sum, squares), &shown) in displays.iter_mut().flatten().zip(run.iter().flatten()) {
            *sum += shown;
            *squares += shown * shown;
        }
    }
    displays
}

/// The largest difference of any item and position between a policy and the same on the relabelled
/// image, in standard errors.
fn largest_z(before: &dyn Trial, after: &dyn Trial) -> f64 {
    let (one, other) = (displays(before, 1, [0, 1, 2, 3, 4]), displays(after, 3, OLD));
    let runs = f64::from(RUNS);
    let mean_and_error =
        |&(sum, squares): &(f64, f64)| (sum / runs, (squares / runs - (sum / runs).powi(2)).max(0.0) / runs);
    let z = |(one, other)| {
        let ((one, error), (other, other_error)) = (mean_and_error(one), mean_and_error(other));
        // Displays that never vary must agree.
        if one == other { 0.0 } else { (one - other).abs() / (error + other_error).sqrt() }
    };
    one.iter().flatten().zip(other.iter().flatten()).map(z).fold(0.0, f64::max)
}

#[test]
fn relabelling_items_relabels_choices() {
    assert!(LABELS.into_iter().enumerate().all(|(item, label)| OLD[label] == item));
    let users = |attraction: [f64; 5]| Users::who_like(&attraction, &EXAMINATION);
    let [before, after] =
        [ATTRACTION, relabelled()].map(|attraction| trials(users(attraction), Extent::Defaults, 100));
    for (before, after) in before.iter().zip(&after) {
        let z = largest_z(&**before, &**after);
        assert!(z < 6.5, "{}: {z} standard errors", before.name());
    }
}

/// The items of largest mean, where equal ones go by number.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct LowestFirst {
    shape: ListShape,
    shows: [u32; 5],
    clicks: [u32; 5],
}

impl Select<Ranking> for LowestFirst {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, _: &mut R, out: &mut Decision<Ranking>) {
        let mean = |item: usize| f64::from(self.clicks[item]) / f64::from(self.shows[item].max(1));
        let mut items: Vec<usize> = (0..self.shape.n_items()).collect();
        items.sort_by(|&a, &b| mean(b).total_cmp(&mean(a)));
        out.action = items.into_iter().take(self.shape.n_positions()).map(ItemId::from_index).collect();
    }
}

impl<F: ObservedPrefix> Update<Ranking, F> for LowestFirst {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let clicks = feedback.observed_clicks();
        for (position, item) in decision.action.by_position().take(clicks.len()) {
            self.shows[item.index()] += 1;
            self.clicks[item.index()] += u32::from(clicks.get(position));
        }
    }
}

#[test]
fn ties_to_the_lowest_number_are_caught() {
    let [before, after] = [ATTRACTION, relabelled()].map(|attraction| {
        let model = CascadeModel::from_values(&attraction, 3).expect("valid");
        let policy = LowestFirst { shape: model.shape(), shows: [0; 5], clicks: [0; 5] };
        trial("lowest first", &Rc::new(model), policy)
    });
    let z = largest_z(&*before, &*after);
    assert!(z > 6.5, "{z}");
}
