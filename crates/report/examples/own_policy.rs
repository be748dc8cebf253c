//! Compares a policy of your own with those of the catalogue:
//! `cargo run --release -p report --example own_policy -- DIR`.

use click_models::{CascadeModel, ItemId, ListShape, ObservedPrefix, Ranking};
use experiment::Runner;
use experiment::result::EndValue;
use policies::{Decision, Select, Update};
use rand::Rng;
use sim::{Entry, Schedule};
use spec::{Experiment, Instances};

/// Shows every item equally often for some rounds, and from then on the items with the highest
/// click-through rates.
struct ExploreThenCommit {
    shape: ListShape,
    rounds_left: usize,
    counts: Vec<(f64, f64)>, // clicks and observations of every item
}

impl Select<Ranking> for ExploreThenCommit {
    type Note = (); // nothing to remember until the feedback arrives

    fn select<R: Rng + ?Sized>(&mut self, _rng: &mut R, out: &mut Decision<Ranking>) {
        let (n_items, n_positions) = (self.shape.n_items(), self.shape.n_positions());
        let mut items: Vec<usize> = (0..n_items).collect();
        if self.rounds_left > 0 {
            self.rounds_left -= 1;
            items.rotate_left(self.rounds_left % n_items);
        } else {
            let rate = |item: usize| self.counts[item].0 / self.counts[item].1.max(1.0);
            items.sort_by(|&a, &b| rate(b).total_cmp(&rate(a)));
        }
        out.action = items[..n_positions].iter().map(|&item| ItemId::from_index(item)).collect();
    }
}

impl<F: ObservedPrefix> Update<Ranking, F> for ExploreThenCommit {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let observed = feedback.observed_clicks();
        for (position, item) in decision.action.by_position().take(observed.len()) {
            let (clicks, observations) = &mut self.counts[item.index()];
            *clicks += f64::from(u8::from(observed.get(position)));
            *observations += 1.0;
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::args().nth(1).ok_or("expected a directory for the results")?;
    let users = CascadeModel::from_values(&[0.4, 0.3, 0.2, 0.2, 0.1, 0.1, 0.1, 0.05], 3)?;
    let experiment = Experiment::builder("explore-then-commit", Instances::of([users]))
        .horizon(10_000)
        .runs(50)
        .policy("cascade-ts")
        .policy("cascade-kl-ucb")
        .build()?;
    let own = Entry::new("explore-then-commit", |shape: ListShape| ExploreThenCommit {
        shape,
        rounds_left: 500,
        counts: vec![(0.0, 0.0); shape.n_items()],
    });
    let runner = Runner::new(&experiment).with_contender::<CascadeModel, Schedule>(own);
    let measured = report::run_into(&runner, dir.as_ref())?; // result.json, figures, index.html
    for label in ["cascade-ts", "cascade-kl-ucb", "explore-then-commit"] {
        let regret = measured.result.at_the_end(label, EndValue::Regret);
        let (mean, error) = regret.ok_or("the policy was not played")?;
        println!("{label}: {mean:.1} ± {error:.1} clicks of regret");
    }
    println!("The page: {dir}/index.html");
    Ok(())
}
