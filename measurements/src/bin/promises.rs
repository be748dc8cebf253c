//! Does the answer of `fit` keep what it promises? Logs of known users are generated, and the
//! intervals of the answer compared with the truth.
//!
//! ```text
//! cargo run --release -p measurements --bin promises -- 100
//! ```
//!
//! Each log has 2,000 lists of 4 of 10 items, ranked by a noisy guess of their attraction. Users
//! are position-based. The program counts the logs whose 95 % intervals have the true value: of
//! today's clicks, of what today's lists lose against the best ones, and of what PBM-TS gains in
//! 10,000 lists. Beside it stands what point estimates promise.

use click_logs::fit::{ItemFit, Model, Options, Users, fit};
use click_logs::parameters;
use click_logs::{Format, Reader};
use click_models::{ClickModel, ItemId, PositionBased, Ranking};
use contenders::Entrant;
use experiment::{Experiment, Instances, PosteriorFile, Runner, logged_lists};
use policies::{PolicySpec, draw_beta};
use sim::{SimRng, Streams};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

const ITEMS: usize = 10;
const LISTS: u64 = 2_000;
const EXAMINATION: [f64; 4] = [1.0, 0.7, 0.5, 0.35];
/// Spread of the ranker's guess of the logarithm of attraction, and of each list around it, in
/// standard deviations of Beta(2, 2).
const GUESS: f64 = 0.7 / 0.2236;
const LIST: f64 = 0.5 / 0.2236;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let n_logs: u64 = std::env::args().nth(1).map_or(Ok(100), |logs| logs.parse())?;
    let mut names: Vec<(&str, u32, f64, f64)> = Vec::new();
    let mut point = (0.0, 0.0);
    for number in 0..n_logs {
        let (promises, by_point, kept) = one_log(&mut Streams::new(2_026).instance(number))?;
        for (place, (name, draws, truth)) in promises.into_iter().enumerate() {
            if names.len() == place {
                names.push((name, 0, 0.0, 0.0));
            }
            let mut sorted = draws.clone();
            sorted.sort_by(f64::total_cmp);
            let is_inside = sim::quantile(&sorted, 0.025) <= truth && truth <= sim::quantile(&sorted, 0.975);
            names[place].1 += u32::from(is_inside);
            names[place].2 += draws.iter().sum::<f64>() / draws.len() as f64;
            names[place].3 += truth;
        }
        point = (point.0 + by_point, point.1 + kept);
    }
    let logs = n_logs as f64;
    println!("clicks per 1,000 lists; gain: clicks after 10,000 lists\n");
    for (name, inside, promised, truth) in names {
        let (promised, truth) = (promised / logs, truth / logs);
        println!(
            "{name:<28} in its interval in {inside} of {n_logs} logs; promised {promised:.1}, true {truth:.1} on average"
        );
    }
    let (promised, kept) = (point.0 / logs, point.1 / logs);
    println!("best list of point estimates: promises to gain {promised:.1}, gains {kept:.1} on average");
    Ok(())
}

/// A promise: a name, draws, and the truth.
type Promise = (&'static str, Vec<f64>, f64);

/// The promises for a log (name, draws, truth); the promise of point estimates, and the gain of
/// their list.
fn one_log(rng: &mut SimRng) -> Outcome<(Vec<Promise>, f64, f64)> {
    let theta: Vec<f64> = (0..ITEMS).map(|_| draw_beta(1.5, 6.0, rng)).collect();
    let users = PositionBased::from_values(&theta, &EXAMINATION)?;
    let guess: Vec<f64> = theta.iter().map(|theta| libm::log(*theta) + GUESS * centred(rng)).collect();
    let mut text = "query\tregion\turls\tclicked_mask\n".to_owned();
    let mut shown: BTreeMap<Vec<usize>, u64> = BTreeMap::new();
    for _ in 0..LISTS {
        let scores: Vec<f64> = guess.iter().map(|guess| guess + LIST * centred(rng)).collect();
        let mut items: Vec<usize> = (0..ITEMS).collect();
        items.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let list: Ranking = items[..EXAMINATION.len()].iter().map(|&item| ItemId::from_index(item)).collect();
        let clicks = users.respond(&list, rng).clicks;
        let urls: Vec<String> = list.iter().map(|item| (100 + item.index()).to_string()).collect();
        let mask: String = (0..list.len()).map(|at| if clicks.get(at) { '1' } else { '0' }).collect();
        writeln!(text, "7\t0\t{}\t{mask}", urls.join(","))?;
        *shown.entry(list.iter().map(ItemId::index).collect()).or_default() += 1;
    }
    let log = Reader::new(Format::Sessions).keep_sessions().read("generated", text.as_bytes())?;
    let options = Options::default();
    let pbm = fit(Model::Pbm, &log.counts, &log.sessions, &options)?;
    let query = pbm.queries()[0].clone();
    let Some(Users::PositionBased { model: fitted, positions }) = pbm.users(&query, EXAMINATION.len()) else {
        return Err("no users".into());
    };
    // The fit sorts items by name, and positions by examination.
    let name = |item: &ItemFit| log.counts.names().name(item.item).parse::<usize>();
    let items: Vec<usize> = query.items.iter().map(|item| Ok(name(item)? - 100)).collect::<Outcome<_>>()?;
    let place = |item: ItemId| items.iter().position(|&other| other == item.index());
    let in_fit = |list: &Ranking| -> Option<Ranking> {
        positions.iter().map(|&at| place(list[at]).map(ItemId::from_index)).collect()
    };
    let true_users = PositionBased::from_values(
        &items.iter().map(|&item| theta[item]).collect::<Vec<_>>(),
        &positions.iter().map(|&at| EXAMINATION[at]).collect::<Vec<_>>(),
    )?;
    let mut csv = "instance,query,lists,items\n".to_owned();
    let mut today = 0.0;
    let mut today_fitted = 0.0;
    for (list, count) in &shown {
        let list: Ranking = list.iter().map(|&item| ItemId::from_index(item)).collect();
        let list = in_fit(&list).ok_or("an item that is not fitted")?;
        let names: Vec<String> = list.iter().map(|item| item.index().to_string()).collect();
        writeln!(csv, "0,,{count},{}", names.join(" "))?;
        let share = *count as f64 / LISTS as f64;
        today += 1000.0 * share * true_users.expected_clicks(&list);
        today_fitted += 1000.0 * share * fitted.expected_clicks(&list);
    }
    let mut json = Vec::new();
    parameters::write(&log.report, 1, &log.counts, &[pbm], &options, &|_| true, &mut json)?;
    let uncertain = Instances::uncertain(PosteriorFile::from_json("parameters.json", json, Some("pbm"))?)?;
    let promised = decision(uncertain, &csv)?;
    let evidence = promised.evidence(400);
    let true_gains = gains(&decision(Instances::of([true_users.clone()]), &csv)?)?;
    let of = |draw: fn(&experiment::models::Evidence) -> Vec<f64>| draw(&evidence[0]);
    let list = fitted.optimal_action();
    Ok((
        vec![
            ("today's clicks", of(|e| e.today.iter().map(|v| 1000.0 * v).collect()), today),
            (
                "loss against the best lists",
                of(|e| e.best.iter().zip(&e.today).map(|(a, b)| 1000.0 * (a - b)).collect()),
                1000.0 * true_users.optimal_reward() - today,
            ),
            ("gain of PBM-TS", gains(&promised)?, true_gains.iter().sum::<f64>() / true_gains.len() as f64),
        ],
        1000.0 * fitted.optimal_reward() - today_fitted,
        1000.0 * true_users.expected_clicks(&list) - today,
    ))
}

/// A number with mean 0 between -1/2 and 1/2.
fn centred(rng: &mut SimRng) -> f64 {
    draw_beta(2.0, 2.0, rng) - 0.5
}

/// PBM-TS beside the log's lists.
fn decision(instances: Instances, csv: &str) -> Outcome<Experiment> {
    let lists = logged_lists("logged.csv", csv.as_bytes(), &instances)?;
    let today = Entrant { lists: Some(Arc::new(lists)), ..Entrant::new("logged", PolicySpec::Logged {}) };
    let builder = Experiment::builder("decision", instances).horizon(10_000).runs(40).checkpoints([10_000]);
    Ok(builder.policy("pbm-ts").entrant(today).build()?)
}

/// The clicks gained in each run.
fn gains(experiment: &Experiment) -> Outcome<Vec<f64>> {
    let measured = Runner::new(experiment).run()?;
    let (policy, today) = (measured.regret(0, 0)?, measured.regret(1, 0)?);
    Ok(policy.iter().zip(today).map(|(policy, today)| today - policy).collect())
}
