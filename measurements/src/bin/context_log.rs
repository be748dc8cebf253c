//! The worth of a log with contexts: greedy lists after a log of uniform lists, and the regret of
//! `hybrid-ts` in the next 3,000 lists after a log of `cascade-ts`. The tables of
//! `docs/context.md`.
//!
//! ```text
//! cargo run --release -p measurements --bin context_log -- 4
//! ```
//!
//! The argument is the number of runs. Users are those of the experiment `context`, F2: 2,000 in 20
//! clusters, 200 items, 6 features each, a cascade of 12. The ratio is that of the excess log-loss
//! to that of the maximum of the posterior, under the deviations that the fit has estimated.

use answer::{ContextSettings, TakeList, fit_contexts};
use anyhow::{Context as _, Result};
use click_logs::fit::Model;
use click_models::{CascadeModel, ClickModel as _, Context, ItemId, Personal, RandomUsers, Ranking};
use log_reader::{Format, Input, PersonalLists};
use maximum::Maximum;
use policies::{
    Decision, HybridPrior, HybridSettings, HybridTs, PolicyFor, PrefixTs, Select as _, Update as _,
};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use spec::{ContextFit, FeatureTable};
use std::fmt::Write as _;

#[path = "context_log/maximum.rs"]
mod maximum;

const ITEMS: usize = 200;
const POSITIONS: usize = 12;
const NEXT: usize = 3_000;
const FEATURES: [&str; 6] = ["x1", "x2", "x3", "x4", "x5", "x6"];

type Random = Xoshiro256PlusPlus;

fn main() -> Result<()> {
    let runs: u64 = std::env::args().nth(1).context("the number of runs")?.parse()?;
    println!(
        "uniform lists: lists, excess log-loss of an answer, its ratio, regret of a greedy list, of the best \
         list for all"
    );
    for lists in [500, 2_000, 8_000] {
        let found = (0..runs).map(|run| {
            let users = users(run)?;
            let log = uniform(&users, lists, run);
            let [excess, ratio, regret] = judged(&users, &log, &fitted(&users, &log)?.prior);
            Ok([excess, ratio, regret, users.yardsticks().best_list])
        });
        println!("{lists} {}", means(&found.collect::<Result<Vec<_>>>()?));
    }
    println!(
        "lists of cascade-ts, then {NEXT} of hybrid-ts: lists, regret, excess log-loss of an answer, its \
         ratio, regret of a greedy list"
    );
    for lists in [0, 1_000, 5_000] {
        let found = (0..runs).map(|run| {
            let users = users(run)?;
            let fresh = HybridTs::new(users.user(0).shape(), users.known(), HybridSettings::default())?;
            if lists == 0 {
                return Ok([regret(&users, fresh, run), f64::NAN, f64::NAN, f64::NAN]);
            }
            let log = of_bandit(&users, lists, run);
            let prior = fitted(&users, &log)?.prior;
            let [excess, ratio, greedy] = judged(&users, &log, &prior);
            Ok([regret(&users, fresh.with_prior(&prior)?, run), excess, ratio, greedy])
        });
        println!("{lists} {}", means(&found.collect::<Result<Vec<_>>>()?));
    }
    Ok(())
}

/// Means with their standard errors.
fn means(rows: &[[f64; 4]]) -> String {
    let n = rows.len() as f64;
    let column = |at: usize| {
        let mean = rows.iter().map(|row| row[at]).sum::<f64>() / n;
        if mean.is_nan() {
            return "-".to_owned();
        }
        let squares: f64 = rows.iter().map(|row| (row[at] - mean).powi(2)).sum();
        format!("{mean:.4} +- {:.4}", (squares / (n - 1.0).max(1.0) / n).sqrt())
    };
    [0, 1, 2, 3].map(column).join("  ")
}

fn users(run: u64) -> Result<Personal<CascadeModel>> {
    let random = RandomUsers {
        users: 2_000,
        items: ITEMS,
        share: 100,
        user_features: 6,
        item_features: 6,
        main: 0.6,
        interaction: 0.6,
        item: 0.5,
        item_slope: 0.4,
        ..RandomUsers::default()
    };
    let model = CascadeModel::from_values(&[0.5; ITEMS], POSITIONS)?;
    Ok(random.draw(&model, &mut Random::seed_from_u64(run))?)
}

/// A list that was shown: the user, the items, and the position that was clicked.
type Shown = (usize, Ranking, Option<usize>);

/// The lists as a table.
fn table(users: &Personal<CascadeModel>, log: &[Shown]) -> String {
    let mut table = format!("u,s,i,p,c,{}\n", FEATURES.join(","));
    for (list, (user, shown, click)) in log.iter().enumerate() {
        let features: Vec<String> = users.contexts()[*user].features.iter().map(f64::to_string).collect();
        for (position, item) in shown.by_position() {
            let clicked = u8::from(*click == Some(position));
            let (item, place) = (item.index(), position + 1);
            let _ = writeln!(table, "u{user},{list},{item},{place},{clicked},{}", features.join(","));
        }
    }
    table
}

fn uniform(users: &Personal<CascadeModel>, lists: usize, run: u64) -> Vec<Shown> {
    let (mut rng, mut log) = (Random::seed_from_u64(1_000 + run), Vec::new());
    let mut order: Vec<usize> = (0..ITEMS).collect();
    for _ in 0..lists {
        let user = users.arrive(&mut rng);
        for position in 0..POSITIONS {
            let other = rng.random_range(position..ITEMS);
            order.swap(position, other);
        }
        let shown: Ranking = order[..POSITIONS].iter().map(|&item| ItemId::from_index(item)).collect();
        let click = users.user(user).respond(&shown, &mut rng).click();
        log.push((user, shown, click));
    }
    log
}

fn of_bandit(users: &Personal<CascadeModel>, lists: usize, run: u64) -> Vec<Shown> {
    let (mut rng, mut log) = (Random::seed_from_u64(2_000 + run), Vec::new());
    let mut policy = PrefixTs::new(users.user(0).shape());
    let mut decision = Decision::default();
    for _ in 0..lists {
        let user = users.arrive(&mut rng);
        policy.select(&mut rng, &mut decision);
        let feedback = users.user(user).respond(&decision.action, &mut rng);
        policy.update(&decision, &feedback);
        log.push((user, decision.action.clone(), feedback.click()));
    }
    log
}

fn fitted(users: &Personal<CascadeModel>, log: &[Shown]) -> Result<ContextFit> {
    let table = table(users, log);
    let columns = format!("user=u,session=s,item=i,position=p,click=c,features={}", FEATURES.join(";"));
    let format = Format::delimited(&columns)?;
    let lists = PersonalLists::new(&format, None)?;
    let settings = ContextSettings {
        model: Model::Cascade,
        query: None,
        features: FEATURES.map(String::from).into(),
        items: Some(FeatureTable {
            rows: (0..ITEMS).map(|item| item.to_string()).collect(),
            features: (1..=6).map(|feature| format!("z{feature}")).collect(),
            values: users.known().item_features().to_vec(),
        }),
        held_out_one_in: 10,
        seed: 1,
        ablate: false,
    };
    let read = |names: &mut _, take: &mut TakeList<'_>| {
        Ok(lists.read(vec![Input::stream("log", table.as_bytes())], names, take)?)
    };
    Ok(fit_contexts::<anyhow::Error>(&settings, read)?.0)
}

/// The quality of a fit: excess log-loss, its ratio to that of the maximum of the posterior, and
/// the regret of greedy lists.
fn judged(users: &Personal<CascadeModel>, log: &[Shown], prior: &HybridPrior) -> [f64; 3] {
    let (mean, known) = (prior.mean(), prior.known());
    let of_fit = |context: &Context| {
        (0..ITEMS).map(mean.for_user(context, ITEMS, known.item_features())).collect::<Vec<f64>>()
    };
    let [excess, regret] = quality(users, prior, of_fit);
    let maximum = Maximum::of(users, log, prior);
    let [least, _] = quality(users, prior, |context| maximum.log_odds(context));
    [excess, excess / least, regret]
}

/// The mean divergence of an answer's probability from the true one, over all users and items, and
/// the mean regret of the lists that are best by these log-odds.
fn quality(
    users: &Personal<CascadeModel>,
    prior: &HybridPrior,
    log_odds: impl Fn(&Context) -> Vec<f64>,
) -> [f64; 2] {
    let (mut excess, mut regret) = (0.0, 0.0);
    for user in 0..users.n_users() {
        let log_odds = log_odds(&prior.standardised(&users.contexts()[user]));
        for (log_odds, attraction) in log_odds.iter().zip(users.user(user).attraction()) {
            let (found, true_one) = (1.0 / (1.0 + libm::exp(-log_odds)), attraction.get());
            excess += true_one * libm::log(true_one / found)
                + (1.0 - true_one) * libm::log((1.0 - true_one) / (1.0 - found));
        }
        let mut order: Vec<usize> = (0..ITEMS).collect();
        order.sort_by(|&a, &b| log_odds[b].total_cmp(&log_odds[a]));
        let list: Ranking = order[..POSITIONS].iter().map(|&item| ItemId::from_index(item)).collect();
        regret += users.user(user).gap(&list);
    }
    let n = users.n_users() as f64;
    [excess / (n * ITEMS as f64), regret / n]
}

/// The regret of the next lists.
fn regret<P: PolicyFor<click_models::Cascade>>(
    users: &Personal<CascadeModel>,
    mut policy: P,
    run: u64,
) -> f64 {
    let (mut rng, mut draws) = (Random::seed_from_u64(3_000 + run), Random::seed_from_u64(4_000 + run));
    let (mut decision, mut sum) = (Decision::default(), 0.0);
    for _ in 0..NEXT {
        let user = users.arrive(&mut rng);
        let context: &Context = &users.contexts()[user];
        policy.select_for(context, &mut draws, &mut decision);
        let feedback = users.user(user).respond(&decision.action, &mut rng);
        policy.update_for(&decision, &feedback);
        sum += users.user(user).gap(&decision.action);
    }
    sum
}
