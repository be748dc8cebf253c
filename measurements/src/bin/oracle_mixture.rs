//! Whether tracking the optimal mixture of lists would need fewer rounds than the order by need: a
//! table of `docs/cascade-bai.md`.
//!
//! ```text
//! cargo run --release -p measurements --bin oracle_mixture -- 100
//! ```
//!
//! The argument is the number of runs; linear weights have half. L = 64, K = 16. All columns stop
//! by the test of `cascade-kl`. The first is `cascade-kl`. The oracle knows the weights and
//! tracks the mixture of `cascade_optimal_mixture`: every round has the sequence of weights that is
//! furthest behind its share. The place of a weight gets the least observed of its undecided items,
//! or of all if it has none. "By need", it gets the item of least progress from the true boundary.

use click_models::bounds::cascade_optimal_mixture;
use click_models::{CascadeFeedback, CascadeModel, ItemId, Ranking};
use confidence::bernoulli_kl;
use measurements::table_e1::{instances, print_row, times};
use policies::{CascadeKl, Decision, Delta, Select, Stop, Update};
use rand::Rng;
use std::ops::ControlFlow;

/// `cascade-kl` with the lists of an oracle.
#[derive(Clone)]
struct Oracle<'a> {
    policy: CascadeKl,
    weights: &'a [f64],
    /// Sequences of weights, each as items that have them; their shares; and how many rounds showed
    /// each.
    patterns: &'a [(Vec<usize>, f64)],
    shown: Vec<f64>,
    clicks: Vec<f64>,
    /// Progress is counted from here; if there is none, by observations.
    boundary: Option<f64>,
}

impl Oracle<'_> {
    /// The pattern that is furthest behind its share.
    fn next(&mut self) -> &[usize] {
        let round = self.shown.iter().sum::<f64>() + 1.0;
        let behind = |place: usize| self.patterns[place].1 * round - self.shown[place];
        let next = (0..self.patterns.len()).max_by(|&a, &b| behind(a).total_cmp(&behind(b))).unwrap_or(0);
        self.shown[next] += 1.0;
        &self.patterns[next].0
    }

    /// As `cascade-kl` computes it.
    fn progress(&self, item: usize) -> f64 {
        let n = self.policy.observations(ItemId::from_index(item)) as f64;
        let mean = (self.clicks[item] + 0.5) / (n + 1.0);
        self.boundary.map_or(n, |boundary| n * bernoulli_kl(mean, boundary) + 0.02 * n.sqrt())
    }
}

impl Select<Ranking> for Oracle<'_> {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, _: &mut R, out: &mut Decision<Ranking>) {
        let pattern = self.next().to_vec();
        let decided = self.policy.accepted().iter().chain(self.policy.rejected());
        let decided: Vec<usize> = decided.map(|item| item.index()).collect();
        let open = (0..self.weights.len()).filter(|item| !decided.contains(item));
        let mut open: Vec<(f64, usize)> = open.map(|item| (self.progress(item), item)).collect();
        open.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut take = |is: &dyn Fn(usize) -> bool| {
            open.iter().position(|&(_, item)| is(item)).map(|place| open.remove(place).1)
        };
        let mut places: Vec<Option<usize>> =
            pattern.iter().map(|&model| take(&|item| self.weights[item] == self.weights[model])).collect();
        let mut decided = decided.into_iter();
        for place in places.iter_mut().filter(|place| place.is_none()) {
            *place = take(&|_| true).or_else(|| decided.next());
        }
        let list = out.action.positions_mut(places.len());
        for (place, item) in list.iter_mut().zip(places.into_iter().flatten()) {
            *place = ItemId::from_index(item);
        }
    }
}

impl Update<Ranking, CascadeFeedback> for Oracle<'_> {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &CascadeFeedback) {
        self.policy.update(decision, feedback);
        if let Some(place) = feedback.click() {
            self.clicks[decision.action[place].index()] += 1.0;
        }
    }
}

impl Stop for Oracle<'_> {
    type Answer = Vec<ItemId>;

    fn check(&self) -> ControlFlow<Vec<ItemId>> {
        self.policy.check()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runs: usize = std::env::args().nth(1).ok_or("expected the number of runs")?.parse()?;
    println!("| delta | row | by need | oracle | oracle, by need | oracle / need | oracle, by need / need |");
    println!("|---|---|---|---|---|---|---|");
    for delta in [0.1, 0.001] {
        for (name, weights) in instances(64, 16) {
            let users = CascadeModel::from_values(&weights, 16)?;
            let runs = if name == "linear" { runs.div_ceil(2) } else { runs };
            let policy = CascadeKl::new(users.shape(), Delta::new(delta)?);
            let patterns = patterns(&cascade_optimal_mixture(&weights, 16), &weights);
            let oracle = |boundary| Oracle {
                policy: policy.clone(),
                weights: &weights,
                patterns: &patterns,
                shown: vec![0.0; patterns.len()],
                clicks: vec![0.0; weights.len()],
                boundary,
            };
            let boundary = boundary(weights[15], weights[16]);
            let columns = [
                times(&users, runs, || policy.clone()),
                times(&users, runs, || oracle(None)),
                times(&users, runs, || oracle(Some(boundary))),
            ];
            print_row(&format!("{delta} | {name}"), &columns, &[(1, 0), (2, 0)]);
        }
    }
    Ok(())
}

/// The lists by their weights, with their shares added up.
fn patterns(lists: &[(Vec<usize>, f64)], weights: &[f64]) -> Vec<(Vec<usize>, f64)> {
    let model = |item: usize| (0..weights.len()).find(|&other| weights[other] == weights[item]);
    let mut patterns: Vec<(Vec<usize>, f64)> = vec![];
    for (list, share) in lists {
        let pattern: Vec<usize> = list.iter().filter_map(|&item| model(item)).collect();
        match patterns.iter_mut().find(|(other, _)| *other == pattern) {
            Some((_, sum)) => *sum += share,
            None => patterns.push((pattern, *share)),
        }
    }
    patterns
}

/// The mean `c` with `d(x, c) = d(y, c)`, by bisection.
fn boundary(x: f64, y: f64) -> f64 {
    let (mut low, mut high) = (y, x);
    for _ in 0..60 {
        let c = f64::midpoint(low, high);
        if bernoulli_kl(x, c) > bernoulli_kl(y, c) { low = c } else { high = c }
    }
    low
}
