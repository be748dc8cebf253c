//! The conditions of live use in an experiment, and how a policy is used live: the table `[live]`
//! and the key `live` of a policy, as in `docs/live.md`.

use crate::models::{Instances, KAPPA, MODELS, Model};
use crate::task::Task;
use contenders::{Entrant, LiveUse};
use documents::number::counted;
use documents::toml_reader::{InFiles, Source, inline, read};
use itertools::Itertools as _;
use live::Skips;
use policies::catalogue::{Live, PolicySpec, Protocol};
use serde_json::json;
use sim::{Availability, Conditions, Delay, Delays, Drift, NewAttraction};
use std::collections::BTreeMap;

/// The protocols of users whose answers can be known in parts.
const PROTOCOLS: [Protocol; 4] =
    [Protocol::PositionBased, Protocol::SemiBandit, Protocol::Cascade, Protocol::Dcm];

impl Model {
    /// Returns whether its users can be met under the table `[live]`. Users of the caller have the
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
    if instances.have_values() {
        return Some("instances with `values` are played without disturbance: leave it out".to_owned());
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
        (KAPPA.name, entry.examination.is_some()),
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
        NewAttraction::Beta(a, b) => format!("from Beta({a}, {b})"),
        NewAttraction::Instance => "that of any item of the instance".to_owned(),
    };
    let mut words = Vec::new();
    if let Some(Availability { share, rounds }) = availability {
        let each =
            if *rounds == 1 { "round".to_owned() } else { format!("block of {}", counted(*rounds, "round")) };
        words.push(format!("In each {each}, an item may be shown with probability {share}."));
    }
    if let Some(churn) = churn {
        let again = if churn.returning > 0.0 {
            format!("; with probability {} it is an item seen earlier", churn.returning)
        } else {
            String::new()
        };
        words.push(format!(
            "In each round an item is replaced with probability {}. The attraction of the new one is {}{again}.",
            churn.rate,
            prior(&churn.prior)
        ));
    }
    match drift {
        Some(Drift::Jumps { jumps, share, prior: new }) => words.push(format!(
            "Every {} the part {share} of the items gets a new attraction, {}.",
            counted(*jumps, "round"),
            prior(new)
        )),
        Some(Drift::Waves { waves, height }) => words.push(format!(
            "The log-odds of attractions move in waves of {} and height {height}.",
            counted(*waves, "round")
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

/// Why a value that was not read from a file, and is written so, is not that of any file.
pub(crate) fn fault_of_written<T: PartialEq + InFiles>(toml: &str, written: &T) -> Option<String> {
    let source = Source::from_text("", format!("live = {toml}"));
    match source.and_then(|source| read::<BTreeMap<String, T>>(&source)) {
        Ok(read) if read["live"] == *written => None,
        Ok(_) => Some(format!("no file can have it: {toml} is something else")),
        Err(error) => Some(format!("{}: {}", error.field().trim_start_matches("live."), error.message())),
    }
}

/// The table of conditions in a file.
pub(crate) fn to_toml(conditions: &Conditions) -> String {
    let mut table = json!(conditions);
    // A file has a key for both random delays, and a table of lost answers.
    if !conditions.delay.is_none() {
        let Delays { click, skip, lost_click, lost_skip } = conditions.delay;
        table["delay"] = match (click, skip) {
            (Delay::Rounds(click), Delay::Rounds(skip)) => json!({ "click": click, "skip": skip }),
            (Delay::Geometric(mean), _) | (_, Delay::Geometric(mean)) => json!({ "geometric": mean }),
        };
        table["delay"]["lost"] = json!({ "click": lost_click, "skip": lost_skip });
    }
    inline(&table)
}

/// The table of a policy's live use in a file.
pub(crate) fn use_to_toml(used: &LiveUse) -> String {
    let &LiveUse { prior, window, explore, skips, wait } = used;
    let mut keys = Vec::new();
    keys.extend(prior.map(|prior| format!("prior = {}", inline(&json!(prior)))));
    keys.extend(window.map(|window| format!("window = {window}")));
    keys.extend((explore > 0.0).then(|| format!("explore = {explore:?}")));
    keys.extend((skips == Skips::AtOnce).then(|| "skips = \"at-once\"".to_owned()));
    keys.extend(wait.map(|wait| format!("wait = {wait}")));
    format!("{{ {} }}", keys.join(", "))
}
