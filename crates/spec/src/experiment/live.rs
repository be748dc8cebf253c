//! The conditions of live use in an experiment, and how a policy is used live.
//!
//! ```toml
//! [live]
//! availability = 0.7                                # of every item in every round; or { share = 0.7, rounds = 100 }
//! churn = { rate = 1e-5, prior = [1, 9] }           # the part of the items that is replaced in a round
//! drift = { jumps = 9000, share = 0.2, prior = [1, 9] }    # or { waves = 50_000, height = 1.0 }
//! delay = { click = 0, skip = 300 }                 # or { geometric = 1000 }
//!
//! [[policies]]
//! policy = "cascade-ts"
//! live = { prior = "estimated", window = 1000 }
//! ```

use crate::key::{Key, KeyKind, Length};
use crate::models::{Instances, MODELS, Model};
use crate::task::Task;
use contenders::{Entrant, LiveUse};
use documents::number::counted;
use documents::toml_reader::{Error, Faults, Field, Source, Table, choice};
use itertools::Itertools as _;
use live::Skips;
use policies::Prior;
use policies::catalogue::{Live, PolicySpec, Protocol};
use sim::{Availability, Churn, Conditions, Delay, Delays, Drift, NewAttraction};
use std::ops::RangeInclusive;

/// Rounds of a delay, a block or a wave.
const ROUNDS: KeyKind = KeyKind::Count { least: 0, most: MOST_ROUNDS };
const BLOCK: KeyKind = KeyKind::Count { least: 1, most: MOST_ROUNDS };
/// The largest number of these.
const MOST_ROUNDS: u64 = 1_000_000_000;
/// The largest height of a wave, in log-odds, and the largest shape of a Beta distribution.
const MOST_HEIGHT: u64 = 20;
const MOST_SHAPE: u64 = 1_000_000;

const PRIOR: Key = Key::required(
    "prior",
    KeyKind::Either(&[
        KeyKind::Numbers { length: Length::Exactly(2), least: 0, most: MOST_SHAPE },
        KeyKind::Choice(&["instance"]),
    ]),
    "The distribution of a new attraction: the two shapes of a Beta distribution, or \"instance\", the attraction of any item of the instance.",
    "[1, 9]",
);

/// The keys of `live` of an experiment.
pub(super) const OF_LIVE: [Key; 4] = [
    Key::optional(
        "availability",
        KeyKind::Either(&[KeyKind::Probability, KeyKind::Table(&OF_AVAILABILITY)]),
        "The part of the items that may be shown, drawn anew in every round or block of rounds.",
        "0.7",
    ),
    Key::optional(
        "churn",
        KeyKind::Table(&OF_CHURN),
        "Items are replaced by others.",
        "{ rate = 1e-5, prior = [1, 9] }",
    ),
    Key::optional(
        "drift",
        KeyKind::Table(&OF_DRIFT),
        "Attractions change: in jumps or in waves.",
        "{ jumps = 9000, share = 0.2, prior = [1, 9] }",
    ),
    Key::optional(
        "delay",
        KeyKind::Table(&OF_DELAY),
        "Answers come late or never.",
        "{ click = 0, skip = 300 }",
    ),
];

const OF_AVAILABILITY: [Key; 2] = [
    Key::required(
        "share",
        KeyKind::Probability,
        "The probability that an item may be shown, above 0.",
        "0.7",
    ),
    Key::optional("rounds", BLOCK, "The rounds of a block; 1 without it.", "100"),
];

const OF_CHURN: [Key; 3] = [
    Key::required(
        "rate",
        KeyKind::Probability,
        "The probability that an item is replaced in a round.",
        "1e-5",
    ),
    PRIOR,
    Key::optional(
        "returning",
        KeyKind::Probability,
        "The probability that an item of before comes in the place; 0 without it.",
        "0.5",
    ),
];

const OF_DRIFT: [Key; 5] = [
    Key::optional("jumps", BLOCK, "The rounds between two jumps.", "9000"),
    Key::optional("share", KeyKind::Probability, "The part of the items that jumps.", "0.2"),
    Key { required: false, ..PRIOR },
    Key::optional("waves", BLOCK, "In the place of jumps: the rounds of a wave.", "50_000"),
    Key::optional(
        "height",
        KeyKind::Number { least: 0, most: MOST_HEIGHT },
        "The amplitude of a wave, in log-odds.",
        "1.0",
    ),
];

const OF_DELAY: [Key; 4] = [
    Key::optional("click", ROUNDS, "The rounds until a click is known; 0 without it.", "0"),
    Key::optional(
        "skip",
        ROUNDS,
        "The rounds until it is known that no more clicks come; 0 without it.",
        "300",
    ),
    Key::optional(
        "geometric",
        KeyKind::Number { least: 0, most: MOST_ROUNDS },
        "In the place of both: the mean of random delays.",
        "1000",
    ),
    Key::optional(
        "lost",
        KeyKind::Table(&OF_LOST),
        "The probabilities that answers never come.",
        "{ click = 0.0, skip = 0.2 }",
    ),
];

const OF_LOST: [Key; 2] = [
    Key::optional("click", KeyKind::Probability, "That of a click.", "0.0"),
    Key::optional("skip", KeyKind::Probability, "That of the end of an answer.", "0.2"),
];

/// The keys of `live` of a policy.
pub(super) const OF_LIVE_POLICY: [Key; 5] = [
    Key::optional(
        "prior",
        KeyKind::Either(&[
            KeyKind::Choice(&["estimated"]),
            KeyKind::Numbers { length: Length::Exactly(2), least: 0, most: MOST_SHAPE },
        ]),
        "The prior of a policy that draws from posteriors: the two shapes of a Beta distribution, or \"estimated\", from the items so far.",
        "\"estimated\"",
    ),
    Key::optional(
        "window",
        KeyKind::Count { least: 1, most: MOST_ROUNDS },
        "The number of observations of each item that count, the last ones.",
        "1000",
    ),
    Key::optional(
        "explore",
        KeyKind::Probability,
        "The probability with which the last position shows a random item.",
        "0.05",
    ),
    Key::optional(
        "skips",
        KeyKind::Choice(&["at-close", "at-once"]),
        "When a display without a click counts: when it is known, or at once, and a click corrects it.",
        "\"at-once\"",
    ),
    Key::optional(
        "wait",
        ROUNDS,
        "Learns from whole answers in the order of the decisions; after this many later decisions an answer is taken as it is.",
        "1000",
    ),
];

/// Reads the conditions of an experiment.
pub(super) fn read(field: &Field<'_>) -> Result<Conditions, Error> {
    let table: Table<'_> = field.get()?;
    let mut faults = Faults::default();
    let availability = table.field("availability");
    let availability = faults.keep(availability.map(|field| read_availability(&field)).transpose());
    let churn = faults.keep(table.field("churn").map(|field| read_churn(&field)).transpose());
    let drift = faults.keep(table.field("drift").map(|field| read_drift(&field)).transpose());
    let delay = faults.keep(table.field("delay").map(|field| read_delay(&field)).transpose());
    faults.keep(table.finish());
    faults.end()?;
    Ok(Conditions {
        availability: availability.flatten(),
        churn: churn.flatten(),
        drift: drift.flatten(),
        delay: delay.flatten().unwrap_or_default(),
    })
}

fn read_availability(field: &Field<'_>) -> Result<Availability, Error> {
    if !field.is_table() {
        return Ok(Availability { share: above_0(field)?, rounds: 1 });
    }
    let table: Table<'_> = field.get()?;
    let mut faults = Faults::default();
    let share = faults.keep(table.required("share").and_then(|field| above_0(&field)));
    let rounds = faults.keep(rounds(&table, "rounds", 1));
    faults.keep(table.finish());
    faults.end()?;
    Ok(Availability { share: share.unwrap_or(1.0), rounds: rounds.flatten().unwrap_or(1) })
}

fn read_churn(field: &Field<'_>) -> Result<Churn, Error> {
    let table: Table<'_> = field.get()?;
    let mut faults = Faults::default();
    let rate = faults.keep(table.required("rate").and_then(|field| probability(&field)));
    let prior = faults.keep(table.required("prior").and_then(|field| read_prior(&field)));
    let returning = table.field("returning").map(|field| probability(&field));
    let returning = faults.keep(returning.transpose());
    faults.keep(table.finish());
    faults.end()?;
    Ok(Churn {
        rate: rate.unwrap_or(0.0),
        prior: prior.unwrap_or(NewAttraction::Instance),
        returning: returning.flatten().unwrap_or(0.0),
    })
}

fn read_drift(field: &Field<'_>) -> Result<Drift, Error> {
    let table: Table<'_> = field.get()?;
    let mut faults = Faults::default();
    let (jumps, waves) = (table.field("jumps"), table.field("waves"));
    let drift = match (jumps, waves) {
        (Some(_), Some(waves)) => {
            table.know(&["share", "prior", "height"]);
            faults.add(waves.error("`jumps` is given already: expected one or the other"));
            None
        }
        (None, None) => {
            table.know(&["share", "prior", "height"]);
            faults.add(table.error("expected `jumps` or `waves`"));
            None
        }
        (Some(_), None) => {
            let every = faults.keep(rounds(&table, "jumps", 1)).flatten();
            let share = faults.keep(table.required("share").and_then(|field| probability(&field)));
            let prior = faults.keep(table.required("prior").and_then(|field| read_prior(&field)));
            match (every, share, prior) {
                (Some(every), Some(share), Some(prior)) => Some(Drift::Jumps { every, share, prior }),
                _ => None,
            }
        }
        (None, Some(_)) => {
            let period = faults.keep(rounds(&table, "waves", 1)).flatten();
            let height = table.required("height").and_then(|field: Field<'_>| number(&field, MOST_HEIGHT));
            let height = faults.keep(height);
            period.zip(height).map(|(period, height)| Drift::Waves { period, height })
        }
    };
    faults.keep(table.finish());
    faults.end()?;
    drift.ok_or_else(|| table.error("incomplete"))
}

fn read_delay(field: &Field<'_>) -> Result<Delays, Error> {
    let table: Table<'_> = field.get()?;
    let mut faults = Faults::default();
    let click = faults.keep(rounds(&table, "click", 0)).flatten();
    let skip = faults.keep(rounds(&table, "skip", 0)).flatten();
    let geometric = table.field("geometric");
    if let Some(geometric) = &geometric
        && (click.is_some() || skip.is_some())
    {
        faults.add(geometric.error("`click` or `skip` is given already: expected one or the other"));
    }
    let geometric = faults.keep(geometric.map(|field| number(&field, MOST_ROUNDS)).transpose()).flatten();
    let (mut lost_click, mut lost_skip) = (0.0, 0.0);
    if let Some(lost) = faults.keep(table.optional::<Table<'_>>("lost")).flatten() {
        let mut read = |key| {
            let share = lost.field(key).map(|field| probability(&field)).transpose();
            faults.keep(share).flatten().unwrap_or(0.0)
        };
        (lost_click, lost_skip) = (read("click"), read("skip"));
        faults.keep(lost.finish());
    }
    faults.keep(table.finish());
    faults.end()?;
    let delay = |rounds: Option<u64>| match geometric {
        Some(mean) if mean > 0.0 => Delay::Geometric(mean),
        _ => Delay::Rounds(rounds.unwrap_or(0)),
    };
    Ok(Delays { click: delay(click), skip: delay(skip), lost_click, lost_skip })
}

fn rounds(table: &Table<'_>, key: &str, least: u64) -> Result<Option<u64>, Error> {
    let range: RangeInclusive<u64> = least..=MOST_ROUNDS;
    table.field(key).map(|field| field.integer_in(&range)).transpose()
}

fn probability(field: &Field<'_>) -> Result<f64, Error> {
    let value: f64 = field.get()?;
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(field.wrong_type("a probability, from 0 to 1")) }
}

fn above_0(field: &Field<'_>) -> Result<f64, Error> {
    let value: f64 = field.get()?;
    let is_sound = value > 0.0 && value <= 1.0;
    if is_sound { Ok(value) } else { Err(field.wrong_type("a number above 0 and at most 1")) }
}

fn number(field: &Field<'_>, most: u64) -> Result<f64, Error> {
    let value: f64 = field.get()?;
    let is_sound = (0.0..=most as f64).contains(&value);
    if is_sound { Ok(value) } else { Err(field.wrong_type(&format!("a number from 0 to {most}"))) }
}

/// The two shapes of a Beta distribution.
fn shapes(field: &Field<'_>) -> Result<[f64; 2], Error> {
    let expected = "the two shapes of a Beta distribution, each above 0, such as [1, 9]";
    match field.get::<Vec<f64>>()?[..] {
        [a, b] if [a, b].iter().all(|shape| *shape > 0.0 && *shape <= MOST_SHAPE as f64) => Ok([a, b]),
        _ => Err(field.wrong_type(expected)),
    }
}

fn read_prior(field: &Field<'_>) -> Result<NewAttraction, Error> {
    if field.is_array() {
        let [a, b] = shapes(field)?;
        return Ok(NewAttraction::Beta { a, b });
    }
    choice(field, &[("instance", NewAttraction::Instance)], "distribution")
}

/// Reads how a policy is used live.
pub(super) fn read_use(field: &Field<'_>) -> Result<LiveUse, Error> {
    let table: Table<'_> = field.get()?;
    let mut faults = Faults::default();
    let mut read = LiveUse::default();
    if let Some(prior) = table.field("prior") {
        if prior.is_array() {
            let set = |[a, b]: [f64; 2]| Prior::new(a, b).map_err(|error| prior.error(error.to_string()));
            read.prior = faults.keep(shapes(&prior).and_then(set));
        } else {
            read.settings.estimate_prior =
                faults.keep(choice(&prior, &[("estimated", true)], "prior")).unwrap_or_default();
        }
    }
    let window = faults.keep(rounds(&table, "window", 1)).flatten();
    read.settings.window = window.and_then(|window| usize::try_from(window).ok());
    if let Some(explore) = table.field("explore") {
        read.settings.explore = faults.keep(probability(&explore)).unwrap_or_default();
    }
    if let Some(skips) = table.field("skips") {
        let known = [("at-close", Skips::AtClose), ("at-once", Skips::AtOnce)];
        read.settings.skips = faults.keep(choice(&skips, &known, "time")).unwrap_or_default();
    }
    read.wait = faults.keep(rounds(&table, "wait", 0)).flatten();
    faults.keep(table.finish());
    faults.end()?;
    Ok(read)
}

/// The protocols of users whose answers can be known in parts.
const PROTOCOLS: [Protocol; 4] =
    [Protocol::PositionBased, Protocol::SemiBandit, Protocol::Cascade, Protocol::Dcm];

impl Model {
    /// Whether its users can be met under the table `[live]`. Users of the caller have the
    /// protocols of those that can, but no attractions that could change.
    pub fn is_played_live(&self) -> bool {
        PROTOCOLS.contains(&self.protocol) && self == Self::of(self.protocol)
    }
}

/// Why these users cannot be met under conditions that disturb a policy, or by a policy in live
/// use.
pub(crate) fn fault_of_users(instances: &Instances, task: Task, conditions: &Conditions) -> Option<String> {
    let is_fixed = matches!(
        conditions.delay,
        Delays { click: Delay::Rounds(_), skip: Delay::Rounds(_), lost_click: 0.0, lost_skip: 0.0 }
    );
    let is_delay_alone = Conditions { delay: conditions.delay, ..Conditions::default() } == *conditions;
    match task {
        Task::Budget => {
            return Some("task \"budget\" is played without disturbance: leave it out".to_owned());
        }
        Task::Identify if !is_fixed || !is_delay_alone => {
            let expected = "task \"identify\" takes `delay` alone, with `click` and `skip`";
            return Some(expected.to_owned());
        }
        Task::Identify | Task::Regret => {}
    }
    if instances.contexts().is_some() {
        return Some("instances with a `context` are played without disturbance: leave it out".to_owned());
    }
    if !instances.model().is_played_live() {
        let able = MODELS.iter().filter(|model| model.is_played_live());
        let able = able.map(|model| format!("{:?}", model.name)).join(" or ");
        return Some(format!("expected instances of {able}, but these are {:?}", instances.model().name));
    }
    None
}

/// Why a policy cannot be used so under these conditions: the key, and the fault.
pub(super) fn fault_of_policy(
    entry: &Entrant,
    instances: &Instances,
    task: Task,
    conditions: &Conditions,
) -> Option<(&'static str, String)> {
    let (spec, name) = (&entry.spec, &entry.name);
    if entry.live.is_none() && !conditions.disturb() {
        return None;
    }
    if let Some(fault) = fault_of_users(instances, task, conditions) {
        // Under conditions it is the fault of the experiment.
        return entry.live.is_some().then_some(("live", fault));
    }
    let other = [
        ("read-as", entry.read_as.is_some()),
        ("kappa", entry.examination.is_some()),
        ("prior", entry.priors.is_some()),
    ];
    if let Some((key, _)) = other.into_iter().find(|(_, is_given)| *is_given) {
        return Some((key, "not supported in live use: leave it out".to_owned()));
    }
    if matches!(spec, PolicySpec::Oracle {} | PolicySpec::Logged {}) {
        return Some(("policy", format!("{name:?} does not learn from answers: leave it out under `live`")));
    }
    let used = entry.live.unwrap_or_default();
    if task == Task::Identify && !spec.speaks(Protocol::Cascade) {
        return Some(("policy", format!("{name:?} reads more than clicks: it is not played in live use")));
    }
    let has_table = spec.row().live == Live::Table && task == Task::Regret;
    if has_table && used.wait.is_none() {
        let fault = used.fault(*spec, instances.model().protocol)?;
        return Some(("live", fault));
    }
    let why = if has_table { "learns in order with `wait`" } else { "has no table" };
    if conditions.items_change() {
        return Some(("policy", format!("{name:?} {why}, so it cannot choose among items that come and go")));
    }
    (LiveUse { wait: None, ..used } != LiveUse::default())
        .then(|| ("live", format!("{name:?} {why}: expected `wait` alone")))
}

/// The conditions in words, one sentence each.
pub(super) fn in_words(conditions: &Conditions) -> Vec<String> {
    let Conditions { availability, churn, drift, delay } = conditions;
    let prior = |prior: &NewAttraction| match prior {
        NewAttraction::Beta { a, b } => format!("from Beta({a}, {b})"),
        NewAttraction::Instance => "that of any item of the instance".to_owned(),
    };
    let mut words = Vec::new();
    if let Some(Availability { share, rounds }) = availability {
        let each =
            if *rounds == 1 { "round".to_owned() } else { format!("block of {}", counted(*rounds, "round")) };
        words.push(format!("In each {each}, an item may be shown with probability {share}."));
    }
    if let Some(Churn { rate, prior: new, returning }) = churn {
        let again = if *returning > 0.0 {
            format!("; with probability {returning} it is one of before")
        } else {
            String::new()
        };
        words.push(format!(
            "In each round an item is replaced with probability {rate}. The attraction of the new one is {}{again}.",
            prior(new)
        ));
    }
    match drift {
        Some(Drift::Jumps { every, share, prior: new }) => words.push(format!(
            "Every {} the part {share} of the items gets a new attraction, {}.",
            counted(*every, "round"),
            prior(new)
        )),
        Some(Drift::Waves { period, height }) => words.push(format!(
            "The log-odds of attractions move in waves of {} and height {height}.",
            counted(*period, "round")
        )),
        None => {}
    }
    if !delay.is_none() {
        let rounds = |delay: &Delay| match delay {
            Delay::Rounds(rounds) => counted(*rounds, "round"),
            Delay::Geometric(mean) => format!("a geometric number of rounds with mean {mean}"),
        };
        words.push(format!(
            "A click is known after {}, and that no more come after {}.",
            rounds(&delay.click),
            rounds(&delay.skip)
        ));
        if delay.lost_click > 0.0 || delay.lost_skip > 0.0 {
            words.push(format!(
                "Lost are clicks with probability {} and ends of answers with probability {}.",
                delay.lost_click, delay.lost_skip
            ));
        }
    }
    words
}

/// Why conditions that were not read from a file are not those of any file.
pub(crate) fn fault(conditions: &Conditions) -> Option<String> {
    fault_of_written(&to_toml(conditions), conditions, read)
}

/// Why a live use that was not read from a file is not that of any file.
pub(crate) fn fault_of_use(used: &LiveUse) -> Option<String> {
    fault_of_written(&use_to_toml(used), used, read_use)
}

fn fault_of_written<T: PartialEq>(
    toml: &str,
    written: &T,
    read: impl Fn(&Field<'_>) -> Result<T, Error>,
) -> Option<String> {
    let read_back = || {
        let source = Source::from_text("", format!("live = {toml}"))?;
        read(&source.parse()?.root().required("live")?)
    };
    match read_back() {
        Ok(read) if read == *written => None,
        Ok(_) => Some(format!("no file can have it: {toml} is something else")),
        Err(error) => Some(format!("{}: {}", error.field().trim_start_matches("live."), error.message())),
    }
}

/// The table of conditions in a file.
pub(super) fn to_toml(conditions: &Conditions) -> String {
    let Conditions { availability, churn, drift, delay } = conditions;
    let prior = |prior: &NewAttraction| match prior {
        NewAttraction::Beta { a, b } => format!("[{a:?}, {b:?}]"),
        NewAttraction::Instance => "\"instance\"".to_owned(),
    };
    let mut keys = Vec::new();
    if let Some(Availability { share, rounds }) = availability {
        keys.push(format!("availability = {{ share = {share:?}, rounds = {rounds} }}"));
    }
    if let Some(Churn { rate, prior: new, returning }) = churn {
        keys.push(format!(
            "churn = {{ rate = {rate:?}, prior = {}, returning = {returning:?} }}",
            prior(new)
        ));
    }
    match drift {
        Some(Drift::Jumps { every, share, prior: new }) => {
            keys.push(format!("drift = {{ jumps = {every}, share = {share:?}, prior = {} }}", prior(new)));
        }
        Some(Drift::Waves { period, height }) => {
            keys.push(format!("drift = {{ waves = {period}, height = {height:?} }}"));
        }
        None => {}
    }
    if !delay.is_none() {
        let Delays { click, skip, lost_click, lost_skip } = delay;
        let delays = match (click, skip) {
            (Delay::Rounds(click), Delay::Rounds(skip)) => format!("click = {click}, skip = {skip}"),
            (Delay::Geometric(mean), _) | (_, Delay::Geometric(mean)) => format!("geometric = {mean:?}"),
        };
        keys.push(format!(
            "delay = {{ {delays}, lost = {{ click = {lost_click:?}, skip = {lost_skip:?} }} }}"
        ));
    }
    format!("{{ {} }}", keys.join(", "))
}

/// The table of a policy's live use in a file.
pub(super) fn use_to_toml(used: &LiveUse) -> String {
    let LiveUse { settings, prior, wait } = used;
    let mut keys = Vec::new();
    if settings.estimate_prior {
        keys.push("prior = \"estimated\"".to_owned());
    }
    keys.extend(prior.map(|prior| format!("prior = [{:?}, {:?}]", prior.a(), prior.b())));
    keys.extend(settings.window.map(|window| format!("window = {window}")));
    if settings.explore > 0.0 {
        keys.push(format!("explore = {:?}", settings.explore));
    }
    if settings.skips == Skips::AtOnce {
        keys.push("skips = \"at-once\"".to_owned());
    }
    keys.extend(wait.map(|wait| format!("wait = {wait}")));
    format!("{{ {} }}", keys.join(", "))
}
