//! A launch: today's list beside the policy's, and a share that rises by evidence.

use super::Engine;
use super::lists::{Asked, places};
use super::query::Query;
use crate::api::{LaunchBody, Refusal};
use crate::config::Template;
use crate::event::{Change as ItemChange, Decision, Event, LaunchedDecision, Name};
use crate::metrics::log;
use click_models::Context;
use interleaving::launch::{Change, Launch, Settings, Why};
use interleaving::split::Place;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The time between two looks, in milliseconds.
const LOOK: u64 = 60_000;
/// The metric of the values of clicks, which clients need not send.
pub(crate) const VALUE: &str = "value";
/// The largest value of a metric.
const LARGEST: f64 = 1e12;

/// A launch, and what it counts beside the comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaunchState {
    /// The comparison.
    pub launch: Launch,
    /// Decisions.
    pub decisions: u64,
    /// Decisions without a user, who see today's list.
    pub without_user: u64,
    /// Decisions that show today's list since the query is new.
    pub first: u64,
    /// Items at the same position of today's list and the policy's, items of both, items of
    /// today's.
    pub agreement: [u64; 3],
    /// The time of the last look; not saved, since what it found is an event.
    #[serde(skip)]
    looked: u64,
}

impl LaunchState {
    fn new(settings: Settings, time: u64) -> Self {
        let launch = Launch::new(settings, time);
        Self { launch, decisions: 0, without_user: 0, first: 0, agreement: [0; 3], looked: 0 }
    }
}

impl Engine {
    /// The launch; one that waits for its first decision has zeros, and begins in 1970.
    pub fn launch_or_first(&self) -> Option<Cow<'_, LaunchState>> {
        let first = || Some(Cow::Owned(LaunchState::new(self.template.launch.clone()?, 0)));
        self.launch.as_ref().map(Cow::Borrowed).or_else(first)
    }

    /// The share in millionths, and the compared lists of today's side and the policy's.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts, and a share")]
    pub fn launch_counts(&self) -> [u64; 3] {
        self.launch.as_ref().map_or([0; 3], |LaunchState { launch, .. }| {
            let [today, policy] = launch.total;
            [1e6 * launch.share, today[0], policy[0]].map(|number| number as u64)
        })
    }

    /// Lets a launch follow new settings. What was seen of another policy is no evidence.
    pub(super) fn set_launch(&mut self, is_other_policy: bool, time: u64) {
        let (state, settings) = (self.launch.take(), &self.template.launch);
        self.launch = match (state, settings) {
            (Some(state), Some(settings)) if state.launch.settings.name == settings.name => {
                let is_new = is_other_policy || state.launch.settings != *settings;
                if state.launch.settings.guards != settings.guards {
                    self.decisions.measure_anew();
                }
                let follow = |launch: Launch| launch.with_settings(settings.clone(), time);
                let launch = if is_new { follow(state.launch) } else { state.launch };
                Some(LaunchState { launch, ..state })
            }
            // It begins with its first decision, and answers to earlier ones are not its own.
            _ => {
                self.decisions.compare_none();
                None
            }
        };
    }

    /// Checks today's list of a request: a launch has one, and nothing else has.
    pub(super) fn check_baseline(
        &self,
        baseline: Option<&mut Vec<Name>>,
        positions: Option<u8>,
    ) -> Result<(), Refusal> {
        let malformed = |what: &str, at: &str| Err(Refusal::malformed(what, at));
        let list = match (baseline, &self.template.launch) {
            (None, None) => return Ok(()),
            (Some(_), None) => return malformed("the configuration has no [launch]", "baseline"),
            (None, Some(_)) => return malformed("a launch needs today's list", "baseline"),
            (Some(list), Some(_)) => list,
        };
        if let Some(place) = (0..list.len()).find(|&place| list[..place].contains(&list[place])) {
            let what = format!("item `{}` is twice in the list", list[place]);
            return malformed(&what, &format!("baseline[{place}]"));
        }
        list.truncate(positions.map_or(usize::MAX, usize::from).min(self.template.positions));
        Ok(())
    }

    /// Adds the items of today's list that the query does not know, if there is room for all.
    pub(super) fn add_baseline(
        &mut self,
        list: &[Name],
        query: &Name,
        events: &mut Vec<Event>,
    ) -> Result<(), Refusal> {
        let (keep, features) =
            (self.template.settings().keep_retired, vec![0.0; self.template.item_features.len()]);
        let n_items = if self.load(query)? { self.loaded(query)?.n_items() } else { 0 };
        if !features.is_empty() || n_items + self.catalogue.counts()[0] + list.len() > self.most.items {
            let has_all = |query: &mut Query| list.iter().all(|item| query.known(item).is_some());
            let too_many = || Refusal::too_many("retired items", keep);
            let check = |query: &mut Query| has_all(query).then_some(()).ok_or_else(too_many);
            self.check_at(query, list, |item| list.contains(item), check)?;
        }
        let of_query = self.change(query)?;
        let new: Vec<&Name> = list.iter().filter(|item| of_query.known(item).is_none()).collect();
        for item in new {
            self.change_item(item, Some(query), ItemChange::Add, &features, events)?;
            if !features.is_empty() {
                // The policy shows none whose features it was not told.
                self.change_item(item, Some(query), ItemChange::Retire, &[], events)?;
            }
        }
        Ok(())
    }

    /// Completes a decision of a launch: the policy chooses in any case, and either its list is
    /// shown or today's.
    pub(super) fn choose_in_launch(
        &mut self,
        mut decision: Decision,
        today: Vec<Name>,
        user: &Context,
        time: u64,
    ) -> Result<LaunchedDecision, Refusal> {
        let number = self.decisions.next();
        let is_first = self.is_first(&decision.query)?;
        let state = self.launch_at(time);
        let name = &state.launch.settings.name;
        // By the client's name, whatever is kept of it.
        let place = decision.user.as_ref().map(|user| Place::new(name, user));
        let compared = place.filter(|_| !is_first).map(|place| state.launch.place(place));
        decision.user = self.kept_user(decision.user);
        let query = self.query(&decision.query)?;
        let Some(choice) = &decision.chosen else { unreachable!("a list was asked for") };
        let asked = Asked::new(query, &choice.allowed)?;
        query.is_changed = true;
        let ask = asked.ask(user, choice);
        let of_today = places(query, &today)?;
        let chosen = if compared.is_some_and(|of| of.side) {
            query.learner.decide(&number, ask, &mut query.rng).to_vec()
        } else {
            let shown = query.learner.decide_again(&number, ask, &of_today, &mut query.rng);
            shown.map_err(|error| Refusal::malformed(&error.to_string(), "baseline"))?;
            query.learner.chosen()
        };
        let both = of_today.iter().filter(|item| chosen.contains(item)).count();
        let same = of_today.iter().zip(&chosen).filter(|(today, chosen)| today == chosen).count();
        decision.list = match compared {
            Some(of) if of.side => chosen.into_iter().map(|handle| query.name(handle).clone()).collect(),
            _ => today,
        };
        let [same, both, length] =
            [same, both, of_today.len()].map(|number| u8::try_from(number).unwrap_or(u8::MAX));
        self.remember(&decision, user, asked.unknown, time);
        let (compared, agreement) = (compared.map(u32::from), [same, both]);
        let launched = LaunchedDecision { decision, compared, agreement, length, is_first };
        self.count_launched(number, &launched, time);
        Ok(launched)
    }

    /// Counts a decision of a launch that has been recorded.
    pub(super) fn count_launched(&mut self, number: u64, launched: &LaunchedDecision, time: u64) {
        let LaunchedDecision { compared, agreement: [same, both], length, is_first, .. } = launched;
        if let Some(open) = self.decisions.get_mut(number) {
            open.set_compared(*compared);
        }
        let state = self.launch_at(time);
        state.decisions += 1;
        match compared {
            Some(bits) => state.launch.decide((*bits).into()),
            None if *is_first => state.first += 1,
            None => state.without_user += 1,
        }
        let sums = state.agreement.iter_mut().zip([same, both, length]);
        sums.for_each(|(sum, one)| *sum += u64::from(*one));
        // A list without an order earns nothing.
        self.count_value(number, 0.0);
    }

    /// Counts a click on a decision, if a launch compares it.
    pub(super) fn count_click(&mut self, number: u64) {
        if let (Some(state), Some(open)) = (&mut self.launch, self.decisions.get(number))
            && let Some(compared) = open.compared()
        {
            state.launch.click(compared, open.time, 1.0);
        }
    }

    /// Counts by how much the values of a decision grow, if a launch watches them.
    pub(super) fn count_value(&mut self, number: u64, gained: f64) {
        let launch = self.template.launch.as_ref();
        let Some(guard) = launch.and_then(|launch| launch.guard(VALUE)) else { return };
        let known = self.decisions.get(number).and_then(|open| open.measured.get(guard).copied());
        let value = known.filter(|value| !value.is_nan()).unwrap_or(0.0) + gained;
        self.measure(number, &BTreeMap::from([(VALUE.to_owned(), value)]));
    }

    /// Returns the values of metrics that are not known yet, or why they cannot be.
    pub(super) fn new_metrics(
        &self,
        number: u64,
        mut metrics: BTreeMap<String, f64>,
    ) -> Result<BTreeMap<String, f64>, Refusal> {
        let has_guard =
            |of: &Arc<Template>, name: &str| of.launch.as_ref().is_some_and(|of| of.guard(name).is_some());
        if self.history.iter().all(|of| of.launch.is_none()) {
            return Err(Refusal::malformed("the configuration has no [launch]", "metrics"));
        }
        for (name, value) in &metrics {
            let at = format!("metrics.{name}");
            if name == VALUE {
                return Err(Refusal::malformed("it is the sum of the values of clicks: send those", &at));
            }
            // Clients may still send the metric of an earlier guard.
            if !self.history.iter().any(|of| has_guard(of, name)) {
                let guards = self.template.launch.iter().flat_map(|launch| &launch.guards);
                let known: Vec<&str> = guards.map(|guard| &*guard.metric).collect();
                let known = if known.is_empty() { "none".into() } else { known.join(", ") };
                let what = format!("no guard has the metric `{name}`: known are {known}");
                return Err(Refusal::malformed(&what, &at));
            }
            if value.abs() > LARGEST {
                return Err(Refusal::malformed(&format!("{value} found: expected at most {LARGEST:e}"), &at));
            }
        }
        let open = self.decisions.get(number).filter(|open| open.compared().is_some());
        let (Some(open), Some(settings)) = (open, &self.template.launch) else { return Ok(BTreeMap::new()) };
        let is_new = |guard: usize, value: &f64| open.measured.get(guard) != Some(value);
        metrics.retain(|name, value| settings.guard(name).is_some_and(|guard| is_new(guard, value)));
        Ok(metrics)
    }

    /// Takes values of metrics of a decision.
    pub(super) fn measure(&mut self, number: u64, metrics: &BTreeMap<String, f64>) {
        let (Some(state), Some(open)) = (&mut self.launch, self.decisions.get_mut(number)) else { return };
        let Some(compared) = open.compared() else { return };
        let guards = state.launch.settings.guards.len();
        if open.measured.len() != guards {
            open.measured = vec![f64::NAN; guards].into();
        }
        for (name, new) in metrics {
            let Some(guard) = state.launch.settings.guard(name) else { continue };
            let old = std::mem::replace(&mut open.measured[guard], *new);
            state.launch.measure(compared, open.time, guard, (!old.is_nan()).then_some(old), *new);
        }
    }

    /// Looks whether the share changes: once a minute, and when a week is over.
    pub fn look_at_launch(&mut self, time: u64, events: &mut Vec<Event>) {
        let is_due = |of: &&mut LaunchState| time >= of.looked + LOOK || of.launch.is_week_over(time);
        let Some(state) = self.launch.as_mut().filter(is_due) else { return };
        state.looked = time;
        if let Some(change) = state.launch.look(time) {
            self.change_launch(change, events);
        }
    }

    /// Lets another policy, of which nothing is known, begin at the first step again.
    pub(super) fn lower_share(&mut self, time: u64, events: &mut Vec<Event>) {
        if let Some(LaunchState { launch, .. }) = &self.launch
            && let Some(&share) = launch.settings.steps.first()
            && launch.share > share
        {
            self.change_launch(Change { time, share, why: Why::Began, week: None }, events);
        }
    }

    fn change_launch(&mut self, change: Change, events: &mut Vec<Event>) {
        log("info", "launch", json!({ "share": change.share, "why": change.why, "week": change.week }));
        self.next += 1;
        self.take_launch(&change);
        events.push(Event::Launch(Box::new(change)));
    }

    /// Takes a change of the share.
    pub(super) fn take_launch(&mut self, change: &Change) {
        if self.template.launch.is_some() {
            self.launch_at(change.time).launch.change(change.clone());
        }
    }

    pub(super) fn hold_launch(&mut self, is_held: bool, time: u64) {
        if self.template.launch.is_some() {
            self.launch_at(time).launch.hold(is_held);
        }
    }

    /// Changes the launch by hand.
    pub fn steer(&mut self, body: &LaunchBody, time: u64, events: &mut Vec<Event>) -> Result<(), Refusal> {
        let conflict = |what: &str, at: &str| Err(Refusal::new(409, "launch_state", what, at));
        if self.template.launch.is_none() {
            return Err(Refusal::no_launch());
        }
        let is_stopped = self.launch.as_ref().is_some_and(|state| state.launch.is_stopped());
        let first = self.template.launch.as_ref().and_then(|launch| launch.steps.first().copied());
        let share = match *body {
            LaunchBody::Hold(is_held) => {
                self.next += 1;
                self.hold_launch(is_held, time);
                events.push(Event::Held { is_held });
                return Ok(());
            }
            LaunchBody::Share(share) if (0.0..=1.0).contains(&share) => share,
            LaunchBody::Share(share) => {
                return Err(Refusal::malformed(&format!("{share} found: expected 0 to 1"), "share"));
            }
            LaunchBody::Resume(false) => return Err(Refusal::malformed("expected true", "resume")),
            LaunchBody::Resume(true) if is_stopped => first.unwrap_or(0.0),
            LaunchBody::Resume(true) => return conflict("it was not stopped", "resume"),
        };
        if first.is_none() {
            return conflict("a launch without steps is a shadow", "share");
        }
        self.change_launch(Change { time, share, why: Why::ByHand, week: None }, events);
        Ok(())
    }

    /// The launch, which begins now if it has not.
    fn launch_at(&mut self, time: u64) -> &mut LaunchState {
        let Self { launch, template, .. } = self;
        launch.get_or_insert_with(|| {
            let settings = template.launch.clone().expect("only a launch has such decisions");
            LaunchState::new(settings, time)
        })
    }

    /// Whether a query is so new that everybody sees today's list. A fit of a log counts.
    fn is_first(&mut self, query: &Name) -> Result<bool, Refusal> {
        let first = self.template.launch.as_ref().map_or(0, |launch| u64::from(launch.first));
        let decisions = self.usage.get(query).map_or(0, |usage| usage.decisions);
        Ok(decisions < first && self.change(query)?.n_shown(decisions) < first)
    }
}
