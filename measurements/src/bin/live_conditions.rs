//! The cost of the conditions of live use for each policy: the table of `docs/live.md`.
//!
//! ```text
//! cargo run --release -p measurements --bin live_conditions -- 20000 32
//! ```
//!
//! The arguments are rounds and runs. A policy plays cascade users if it reads their feedback, and
//! position-based users otherwise: 50 items, the quantiles of Beta(1, 9), and lists of five. A row
//! has the regret without disturbance and, for each condition, the regret under it divided by that.

use click_models::{CascadeModel, PositionBased};
use experiment::Runner;
use policies::catalogue::{Family, Row, rows};
use sim::{Availability, Churn, Conditions, Delay, Delays, NewAttraction, mean_and_error};
use spec::{Experiment, Instances};

const N_ITEMS: usize = 50;
const EXAMINATION: [f64; 5] = [1.0, 0.9, 0.81, 0.73, 0.66];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rounds, runs] = &arguments[..] else {
        return Err("expected numbers of rounds and of runs".into());
    };
    let (rounds, runs): (u64, u64) = (rounds.parse()?, runs.parse()?);
    // The quantile at p of Beta(1, 9).
    let quantile = |item: usize| 1.0 - libm::pow((item as f64 + 0.5) / N_ITEMS as f64, 1.0 / 9.0);
    let attraction: Vec<f64> = (0..N_ITEMS).map(quantile).collect();
    let all_users = [
        ("cascade", Instances::of([CascadeModel::from_values(&attraction, EXAMINATION.len())?])),
        ("pbm", Instances::of([PositionBased::from_values(&attraction, &EXAMINATION)?])),
    ];
    let delay = |click, skip| {
        let delay = Delays { click: Delay::Rounds(click), skip: Delay::Rounds(skip), ..Delays::default() };
        Conditions { delay, ..Conditions::default() }
    };
    let availability = Some(Availability { share: 0.7, rounds: 1 });
    let prior = NewAttraction::Beta(1.0, 9.0);
    let churn = Some(Churn { rate: 1e-5, prior, returning: 0.0 });
    let conditions = [
        delay(10, 10),
        delay(1000, 1000),
        delay(0, 1000),
        Conditions { availability, ..Conditions::default() },
        Conditions { churn, ..Conditions::default() },
    ];
    println!(
        "| policy | users | undisturbed | delay 10 | delay 1,000 | skips 1,000 late | availability .7 | churn |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut largest_error = 0.0_f64;
    // These users are alike, so policies that see who asks are left out.
    let sees = |family: &Family| {
        matches!(family, Family::PositionContexts | Family::PrefixContexts | Family::Segments)
    };
    for row in rows().iter().filter(|row| !row.families.iter().any(sees)) {
        // The first users that the policy plays.
        let plays = |conditions, users| regret(row, users, conditions, [rounds, runs]);
        let mut found = None;
        for (name, users) in &all_users {
            if let Some(undisturbed) = plays(Conditions::default(), users)? {
                found = Some((*name, users, undisturbed));
                break;
            }
        }
        let Some((name, users, (undisturbed, error))) = found else { continue };
        let mut cells = Vec::new();
        for conditions in conditions {
            cells.push(plays(conditions, users)?.map(|(mean, its_error)| {
                let ratio = mean / undisturbed;
                let of_ratio = ratio * (its_error / mean).hypot(error / undisturbed);
                largest_error = largest_error.max(of_ratio / ratio);
                format!("{ratio:.2}")
            }));
        }
        // The references meet no conditions.
        if cells.iter().any(Option::is_some) {
            let cells = cells.into_iter().map(Option::unwrap_or_default);
            println!(
                "| `{}` | {name} | {undisturbed:.0} | {} |",
                row.name,
                cells.collect::<Vec<_>>().join(" | ")
            );
        }
    }
    println!("\nThe largest standard error of a ratio is {:.1} % of it.", 100.0 * largest_error);
    Ok(())
}

/// Mean regret of a policy with its standard error; `None` if the policy does not play so.
fn regret(
    row: &Row,
    users: &Instances,
    conditions: Conditions,
    [rounds, runs]: [u64; 2],
) -> Result<Option<(f64, f64)>, Box<dyn std::error::Error>> {
    let experiment = Experiment::builder("conditions", users.clone()).horizon(rounds).runs(runs);
    let experiment = experiment.checkpoints([rounds]).live(conditions).policy(row.name).build();
    let Ok(experiment) = experiment else { return Ok(None) };
    let measured = Runner::new(&experiment).threads(1).run()?;
    Ok(Some(mean_and_error(&measured.regret(0, 0)?)))
}
