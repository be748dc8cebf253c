//! Number of rounds for identifying the best items, and errors with a fixed number of rounds: the
//! tables of `docs/cascade-bai.md`.
//!
//! ```text
//! cargo run --release -p measurements --bin best_items -- stop 128 20 100 1 3 4 5
//! cargo run --release -p measurements --bin best_items -- budget 64 16 200 1 3 4 5 linear
//! ```
//!
//! Arguments: the task, L, K, the number of runs, and the instances (rows of the paper's Table E.1,
//! or `linear`: attractions from 0.9 to 0.05).

use click_models::bounds::cascade_bai_lower_bound;
use click_models::{CascadeModel, ClickModel, ItemId, Ranking};
use confidence::NonNegative;
use measurements::table_e1::{ForCascades, Times, generator, instances, times};
use policies::{
    CascadeBai, CascadeKl, CascadeKlOrder, CascadeKlTest, Decision, Delta, KlLucb, Recommend, Select, Stop,
    SuccessiveRejects, Update,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [task, n_items, n_best, runs, names @ ..] = arguments.as_slice() else {
        return Err("expected a task, L, K, the number of runs, and rows".into());
    };
    let (n_items, n_best, runs): (usize, usize, usize) = (n_items.parse()?, n_best.parse()?, runs.parse()?);
    let mut instances = instances(n_items, n_best);
    instances.retain(|(name, _)| names.iter().any(|asked| asked == name));
    for (name, weights) in &instances {
        let users = CascadeModel::from_values(weights, n_best)?;
        match task.as_str() {
            "stop" => stopping_times(name, &users, weights, runs)?,
            "budget" => budgets(name, &users, runs)?,
            _ => return Err("expected the task `stop` or `budget`".into()),
        }
    }
    Ok(())
}

fn stopping_times(
    name: &str,
    users: &CascadeModel,
    weights: &[f64],
    runs: usize,
) -> Result<(), policies::Error> {
    let (shape, delta) = (users.shape(), Delta::new(0.1)?);
    let default = || CascadeKl::new(shape, delta);
    let paper = || default().with_test(CascadeKlTest::Item).with_order(CascadeKlOrder::LeastObserved);
    let bound = cascade_bai_lower_bound(weights, shape.n_positions(), delta.get());
    println!("row {name}: lower bound {bound:.0}");
    print_times("cascade-kl", users, runs, bound, default);
    print_times("item, least-observed", users, runs, bound, paper);
    print_times("pair, least-observed", users, runs, bound, || {
        default().with_order(CascadeKlOrder::LeastObserved)
    });
    print_times("item, need", users, runs, bound, || default().with_test(CascadeKlTest::Item));
    // Takes ten times as long and more.
    let runs = runs.div_ceil(10);
    print_times("kl-lucb", users, runs, bound, || KlLucb::new(shape, delta));
    let two = NonNegative::new(2.0).expect("not negative");
    print_times("CascadeBAI, radius scale 2", users, runs, bound, || {
        CascadeBai::new(shape, delta).with_radius_scale(two)
    });
    Ok(())
}

fn print_times<P>(name: &str, users: &CascadeModel, runs: usize, bound: f64, fresh: impl Fn() -> P)
where
    P: ForCascades + Stop<Answer = Vec<ItemId>>,
{
    let Times { mean, error, wrong } = times(users, runs, fresh);
    println!(
        "  {name}: {mean:.0} +- {error:.0} rounds in {runs} runs, {:.1} times the bound, {wrong} errors",
        mean / bound
    );
}

fn budgets(name: &str, users: &CascadeModel, runs: usize) -> Result<(), policies::Error> {
    let shape = users.shape();
    // Never stops.
    let delta = Delta::new(f64::MIN_POSITIVE)?;
    let need = || CascadeKl::new(shape, delta);
    // Budgets are shares of the rounds after which it would have stopped.
    let mut typical = 0;
    let mut policy = CascadeKl::new(shape, Delta::new(0.1)?);
    let (mut rng, mut decision) = (generator(0), Decision::default());
    while policy.check().is_continue() {
        typical += 1;
        policy.select(&mut rng, &mut decision);
        policy.update(&decision, &users.respond(&decision.action, &mut rng));
    }
    for budget in [typical / 8, typical / 4, typical / 2] {
        let uniform = || need().with_order(CascadeKlOrder::LeastObserved);
        println!(
            "row {name}, {budget} rounds: successive rejects {:.3}, all alike {:.3}, by need {:.3}",
            share_wrong(users, runs, budget, || SuccessiveRejects::new(shape, budget)),
            share_wrong(users, runs, budget, uniform),
            share_wrong(users, runs, budget, need),
        );
    }
    Ok(())
}

fn share_wrong<P>(users: &CascadeModel, runs: usize, budget: u64, fresh: impl Fn() -> P) -> f64
where
    P: ForCascades + Recommend<Ranking>,
{
    let n_best = users.shape().n_positions();
    let is_wrong = |run: &usize| {
        let (mut policy, mut rng, mut decision) = (fresh(), generator(*run), Decision::default());
        for _ in 0..budget {
            policy.select(&mut rng, &mut decision);
            let answer = users.respond(&decision.action, &mut rng);
            policy.update(&decision, &answer);
        }
        let mut found = Ranking::default();
        policy.recommend(&mut rng, &mut found);
        found.as_slice().iter().any(|item| item.index() >= n_best)
    };
    (0..runs).filter(is_wrong).count() as f64 / runs as f64
}
