//! Policies on users who do not examine the top position most: the order of examination changes the
//! places of the items, and nothing else.

use click_models::PositionBased;
use contenders::{Entrant, Play};
use policies::catalogue::Protocol;
use policies::catalogue::{PolicySpec, rows};
use sim::{Replication, Schedule, Streams};

const RUNS: u64 = 4;

/// Mean regret after 4,000 rounds on users with this examination.
fn regret(entrant: &Entrant, examination: &[f64]) -> f64 {
    let users = PositionBased::from_values(&[0.3, 0.6, 0.1, 0.4, 0.2], examination).expect("users");
    let contenders = PositionBased::contenders(std::slice::from_ref(entrant), 4_000).expect("it plays");
    let schedule = Schedule::new(vec![4_000]).expect("one checkpoint");
    let of_run =
        |run| contenders[0].replicate(Replication::new(&users, Streams::new(3), run), &schedule).regret[0];
    (0..RUNS).map(of_run).sum::<f64>() / RUNS as f64
}

#[test]
fn no_policy_regrets_the_order_of_examination() {
    let speaks = rows().iter().filter(|row| row.speaks(Protocol::PositionBased));
    for row in speaks.filter(|row| !matches!(row.spec(), PolicySpec::Logged {})) {
        let entrant = Entrant::new(row.name, row.spec());
        let (falling, mixed) = (regret(&entrant, &[1.0, 0.5, 0.25]), regret(&entrant, &[0.25, 1.0, 0.5]));
        assert!(mixed <= 1.5 * falling + 20.0, "{}: {falling} and {mixed}", row.name);
    }
}
