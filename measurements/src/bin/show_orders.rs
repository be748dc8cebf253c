//! The orders of section 6.1 of the `CascadeBAI` paper: their number of steps, and their errors
//! with a tolerance. Prints the numbers of `docs/errata.md`.
//!
//! ```text
//! cargo run --release -p measurements --bin show_orders
//! ```

use click_models::{CascadeModel, ClickModel, ListShape};
use confidence::NonNegative;
use policies::{CascadeBai, Decision, Delta, Select, ShowOrder, Stop, Update};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::ops::ControlFlow;

const ORDERS: [ShowOrder; 7] = [
    ShowOrder::LeastObserved,
    ShowOrder::MeanAsc,
    ShowOrder::MeanDesc,
    ShowOrder::UpperAsc,
    ShowOrder::UpperDesc,
    ShowOrder::LowerAsc,
    ShowOrder::LowerDesc,
];

/// `n_best` items of one attraction, and the others of another.
struct Problem {
    n_items: usize,
    n_best: usize,
    best: f64,
    others: f64,
    radius: f64,
    epsilon: f64,
    max_steps: u64,
}

impl Problem {
    /// The number of steps, and whether the answer is right; `None` without an answer.
    fn run(&self, order: ShowOrder, seed: u64) -> Result<Option<(u64, bool)>, Box<dyn std::error::Error>> {
        let attraction = |item| if item < self.n_best { self.best } else { self.others };
        let weights: Vec<f64> = (0..self.n_items).map(attraction).collect();
        let users = CascadeModel::from_values(&weights, self.n_best)?;
        let mut policy = CascadeBai::new(ListShape::new(self.n_items, self.n_best)?, Delta::new(0.1)?)
            .with_order(order)
            .with_radius_scale(NonNegative::new(self.radius)?)
            .with_epsilon(NonNegative::new(self.epsilon)?);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut decision = Decision::default();
        for steps in 0..self.max_steps {
            if let ControlFlow::Break(answer) = policy.check() {
                return Ok(Some((steps, answer.iter().all(|item| item.index() < self.n_best))));
            }
            policy.select(&mut rng, &mut decision);
            policy.update(&decision, &users.respond(&decision.action, &mut rng));
        }
        Ok(None)
    }

    fn print(&self, orders: &[ShowOrder], runs: u64) -> Result<(), Box<dyn std::error::Error>> {
        for &order in orders {
            let ends = (1..=runs).map(|seed| self.run(order, seed)).collect::<Result<Vec<_>, _>>()?;
            let answers: Vec<(u64, bool)> = ends.into_iter().flatten().collect();
            let steps: u64 = answers.iter().map(|(steps, _)| steps).sum();
            let mean = steps.checked_div(answers.len() as u64).map_or("-".into(), |mean| mean.to_string());
            let wrong = answers.iter().filter(|(_, is_right)| !is_right).count();
            println!(
                "  {order:?}: {} of {runs} ended, {mean} steps on average, {wrong} wrong",
                answers.len()
            );
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let problem = Problem {
        n_items: 64,
        n_best: 16,
        best: 15.0 / 16.0,
        others: 0.25,
        radius: 4.0,
        epsilon: 0.0,
        max_steps: 1_000_000,
    };
    println!("16 items of 15/16, 48 of 1/4, radius 4, at most a million steps");
    problem.print(&ORDERS, 2)?;
    // The best items exceed the others by more than the tolerance, so an answer with one of the
    // others is wrong.
    let problem = Problem {
        n_items: 32,
        n_best: 8,
        best: 0.97,
        others: 0.8,
        radius: 2.0,
        epsilon: 0.15,
        max_steps: 300_000,
    };
    println!("8 items of .97, 24 of .8, tolerance .15, radius 2, at most 300,000 steps");
    problem.print(&[ShowOrder::UpperAsc, ShowOrder::LowerDesc], 200)?;
    problem.print(&[ShowOrder::LeastObserved], 10)
}
