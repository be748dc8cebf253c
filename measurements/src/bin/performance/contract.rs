//! The contract of cost: every policy with a table, by its own rounds and in live use, from a
//! hundred items to a million, at the start and settled; other policies of lists by their rounds,
//! up to three thousand items. A row over its limit is marked, and fails unless it is excepted.

use crate::clock::{cpu_seconds, median, rounded};
use anyhow::{Result, ensure};
use click_models::{Cascade, Clicks, Interaction, ItemId, Pbm, Ranking, SemiBandit};
use confidence::Probability;
use documents::number::grouped;
use live::{Among, Live, ObservationRule, Settings};
use policies::catalogue::{self, Ask, CatalogueProtocol, Knowledge, Limit, Note, Protocol, Purpose, Row};
use policies::{AnyPolicy, Decision, NamedLive, SelectAmongFor as _, Tallies as _, Tally};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;

const POSITIONS: usize = 10;
const SIZES: [usize; 7] = [100, 1_000, 1_270, 1_290, 10_000, 100_000, 1_000_000];
/// Of policies without a table.
const MOST_WITHOUT_TABLE: usize = 3_000;
/// Limits: of live use beside rounds, of 1,290 beside 1,270 items, and of the exponent.
const WAYS: f64 = 2.0;
const STEP: f64 = 1.5;
const EXPONENT: f64 = 1.1;
/// Of each measurement.
const SECONDS: f64 = 0.05;
/// Displays that a settled policy has passed, at most.
const MOST_SETTLED: f64 = 1e8;
/// The first rounds of a fresh policy.
const FIRST: u64 = 2_000;

/// Policies that may pass a limit, the limit, and why.
const EXCEPTIONS: [(&str, Limited, &str); 4] = [
    ("ts-cascade", Limited::Exponent, "items that were never shown tie, and each is hashed"),
    ("top-rank", Limited::Exponent, "compares pairs of items"),
    ("uniform", Limited::Ways, LEARNS_NOTHING),
    ("uniform", Limited::Step, LEARNS_NOTHING),
];
const LEARNS_NOTHING: &str = "a round is a few draws, less than the bookkeeping of live use and noise";

/// The kinds of limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limited {
    Ways,
    Step,
    Exponent,
}

/// Users of a number of items.
struct Users {
    attraction: Vec<f64>,
    examination: Option<Vec<f64>>,
    rng: Xoshiro256PlusPlus,
}

impl Users {
    fn new(n_items: usize, by_position: bool) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let attraction = (0..n_items).map(|_| 0.4 * rng.random::<f64>() * rng.random::<f64>()).collect();
        let falling = std::iter::successors(Some(1.0), |examined| Some(0.9 * examined));
        Self { attraction, examination: by_position.then(|| falling.take(POSITIONS).collect()), rng }
    }

    fn chance(&self, item: usize, position: usize) -> f64 {
        self.attraction[item] * self.examination.as_ref().map_or(1.0, |examined| examined[position])
    }

    fn policy<I: CatalogueProtocol>(&self, name: &str) -> Result<AnyPolicy> {
        let mut knowledge = Knowledge::sizes(self.attraction.len(), POSITIONS);
        knowledge.horizon = Some(1_000_000);
        for &examined in self.examination.iter().flatten() {
            knowledge.examination.push(Probability::new(examined)?);
        }
        Ok(AnyPolicy::build(name.parse()?, I::PROTOCOL, knowledge)?)
    }

    /// Gives every item as many displays as its distance to the best takes.
    fn settle<I: CatalogueProtocol + Interaction<Action = Ranking>>(&mut self, policy: &mut NamedLive<I>) {
        let (mut displays, kinds) = (0.0, policy.n_kinds());
        for item in 0..self.attraction.len() {
            let gap = (0.36 - self.attraction[item]).max(0.02);
            for kind in 0..kinds {
                let shows =
                    (10.0 / (gap * gap) * (1.0 + 0.5 * self.rng.random::<f64>()) / kinds as f64).ceil();
                let mean = shows * self.chance(item, kind);
                let clicks =
                    (mean + mean.sqrt() * (self.rng.random::<f64>() - 0.5)).round().clamp(0.0, shows);
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some thousands")]
                let tally = Tally { shows: shows as u64, clicks: clicks as u64 };
                policy.add(ItemId::from_index(item), kind, tally);
                displays += shows;
            }
        }
        let mut passed = 0.0;
        while passed < displays.min(MOST_SETTLED) {
            policy.pass_round_for();
            passed += POSITIONS as f64;
        }
    }

    fn clicks(&mut self, list: impl Iterator<Item = usize>) -> Clicks {
        let mut clicks = Clicks::new(POSITIONS);
        for (position, item) in list.enumerate() {
            if self.rng.random::<f64>() < self.chance(item, position) {
                clicks = clicks.with(position);
            }
        }
        clicks
    }

    /// Rounds per CPU-second of a policy.
    fn rate(&mut self, mut policy: AnyPolicy, is_settled: bool) -> f64 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
        let mut decision = Decision::<Ranking, Note>::default();
        rate(is_settled, |_| {
            policy.select(&Ask::default(), &mut rng, &mut decision);
            let clicks = self.clicks(decision.action.iter().map(ItemId::index));
            policy.update(&decision, clicks);
        })
    }
}

/// Rounds per CPU-second: the first ones, or as many as fit into the time after some.
fn rate(is_settled: bool, mut round: impl FnMut(u64)) -> f64 {
    let mut rounds = 0;
    let mut play = |most: u64, seconds: f64| {
        let (start, mut played) = (cpu_seconds(), 0);
        while played < 20 || played < most && cpu_seconds() - start < seconds {
            (0..20).for_each(|more| round(rounds + more));
            (rounds, played) = (rounds + 20, played + 20);
        }
        played as f64 / (cpu_seconds() - start)
    };
    if is_settled {
        play(500, 1.0);
        play(u64::MAX, SECONDS)
    } else {
        play(FIRST, SECONDS)
    }
}

/// The rates by rounds and, with a table, in live use.
fn rates<I>(row: &Row, n_items: usize, is_settled: bool) -> Result<[Option<f64>; 2]>
where
    I: CatalogueProtocol + ObservationRule + Interaction<Action = Ranking>,
{
    let mut users = Users::new(n_items, I::PROTOCOL == Protocol::PositionBased);
    let policy = users.policy::<I>(row.name)?;
    if row.live != catalogue::Live::Table {
        return Ok([Some(users.rate(policy, is_settled)), None]);
    }
    let mut policy = NamedLive::<I>::try_from(policy)?;
    if is_settled {
        users.settle(&mut policy);
    }
    // Both ways begin with a copy, whose memory has been touched.
    let by_round = users.rate(AnyPolicy::from(policy.clone()), is_settled);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let settings = Settings { keep_open: 1_000, ..Settings::default() };
    let mut live = Live::<I, _, u64>::new(policy.clone(), settings)?;
    let in_live_use = rate(is_settled, |id| {
        let list = live.decide(&id, Among::All, &mut rng);
        let clicks = users.clicks(list.iter().map(|item| item.slot.index()));
        for position in (0..POSITIONS).filter(|&position| clicks.get(position)) {
            let _ = live.click(&id, position);
        }
        let _ = live.close(&id, None);
    });
    Ok([Some(by_round), Some(in_live_use)])
}

/// The measurements of a policy in a state.
#[derive(Default)]
struct Measured {
    rates: BTreeMap<usize, f64>,
    /// The largest of each.
    largest: [Option<f64>; 3],
}

impl Measured {
    fn note(&mut self, limited: Limited, value: f64) {
        let largest = &mut self.largest[limited as usize];
        *largest = Some(largest.map_or(value, |largest| largest.max(value)));
    }
}

/// Prints all rates, and the table of `docs/performance.md`.
///
/// # Errors
///
/// A row passes its limit.
pub(crate) fn check(repetitions: usize) -> Result<()> {
    println!("| policy | state | items | rounds/s | live/s | slower live | exponent |");
    println!("|---|---|---|---|---|---|---|");
    let (mut table, mut failed) = (String::new(), vec![]);
    for row in catalogue::rows() {
        let is_played = row.is_built_from_knowledge() && row.purpose() == Purpose::Regret;
        let plays = |protocol| is_played && row.speaks(protocol) && !row.sees_contexts(protocol);
        let measure = if plays(Protocol::PositionBased) {
            rates::<Pbm>
        } else if plays(Protocol::SemiBandit) {
            rates::<SemiBandit>
        } else if plays(Protocol::Cascade) {
            rates::<Cascade>
        } else {
            continue;
        };
        let has_table = row.live == catalogue::Live::Table;
        for state in ["start", "settled"].into_iter().take(if has_table { 2 } else { 1 }) {
            let mut measured = Measured::default();
            for n_items in SIZES {
                let fits = match row.limit {
                    Limit::None => true,
                    Limit::Cells(most) => n_items * POSITIONS <= most,
                    Limit::Items(most) => n_items <= most,
                };
                if !fits || !has_table && n_items > MOST_WITHOUT_TABLE {
                    continue;
                }
                measure_size(&mut measured, n_items, row.name, state, || {
                    // Fast rounds take more repetitions for the same precision.
                    let repetitions = if n_items < 10_000 { 3 * repetitions } else { repetitions };
                    (0..repetitions).map(|_| measure(row, n_items, state == "settled")).collect()
                })?;
            }
            table += &line(row.name, state, &measured, &mut failed);
        }
    }
    println!("\n<!-- table: growth in docs/performance.md -->");
    println!("| policy | state | 100 | 1,000 | 10,000 | 100,000 | 1,000,000 | live | step | exponent |");
    println!("|---|---|---|---|---|---|---|---|---|---|\n{table}");
    println!("Excepted:\n");
    for (name, limited, why) in EXCEPTIONS {
        let limited = format!("{limited:?}").to_lowercase();
        println!("- `{name}` ({limited}): {why}.");
    }
    ensure!(failed.is_empty(), "over their limits: {}", failed.join(", "));
    Ok(())
}

/// Measures and prints one size.
fn measure_size(
    measured: &mut Measured,
    n_items: usize,
    name: &str,
    state: &str,
    measure: impl Fn() -> Result<Vec<[Option<f64>; 2]>>,
) -> Result<()> {
    let all = measure()?;
    let [round, live] = [0, 1].map(|way| {
        let rates: Vec<f64> = all.iter().filter_map(|rates| rates[way]).collect();
        (!rates.is_empty()).then(|| median(rates))
    });
    let round = round.unwrap_or(f64::NAN);
    let ways = live.map(|live| round / live);
    if let Some(ways) = ways {
        measured.note(Limited::Ways, ways);
    }
    let mut exponent = None;
    if let Some((&before, &rate)) = measured.rates.last_key_value() {
        let items = n_items as f64 / before as f64;
        if items < 1.1 {
            measured.note(Limited::Step, rate / round);
        } else {
            let value = libm::log(rate / round) / libm::log(items);
            exponent = Some(value);
            // From one decade to the next.
            if items > 5.0 {
                measured.note(Limited::Exponent, value);
            }
        }
    }
    measured.rates.insert(n_items, round);
    let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.2}"));
    println!(
        "| {name} | {state} | {} | {} | {} | {} | {} |",
        grouped(n_items as u64),
        rounded(round),
        live.map_or(String::new(), rounded),
        number(ways),
        number(exponent),
    );
    Ok(())
}

/// The row of a policy and a state.
fn line(name: &str, state: &str, measured: &Measured, failed: &mut Vec<String>) -> String {
    let mut cells = vec![format!("| {name} | {state}")];
    for n_items in SIZES.into_iter().filter(|items| ![1_270, 1_290].contains(items)) {
        cells.push(measured.rates.get(&n_items).map_or("-".to_owned(), |&rate| rounded(rate)));
    }
    for (limited, most) in [(Limited::Ways, WAYS), (Limited::Step, STEP), (Limited::Exponent, EXPONENT)] {
        let Some(value) = measured.largest[limited as usize] else {
            cells.push("-".to_owned());
            continue;
        };
        let is_excepted = EXCEPTIONS.iter().any(|&(other, over, _)| other == name && over == limited);
        cells.push(format!("{value:.2}{}", if value > most { " *" } else { "" }));
        if value > most && !is_excepted {
            failed.push(format!("{name} {state} ({limited:?} {value:.2})"));
        }
    }
    format!("{} |\n", cells.join(" | "))
}
