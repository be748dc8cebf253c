//! A launch: the share of users who see a policy's lists rises by evidence, beside today's lists.
//!
//! One number, the `risk`, is the share of all clicks that may be lost. With the difference `d` of
//! clicks a session since the share's last change (policy minus today, rate `r`), its error `e` and
//! the boundary `z` of a test that may be looked at any time, the loss lies between
//! `-(d + z e) / r` and `(z e - d) / r`. The share
//!
//! - rises by a step if the next share times the largest loss is at most `risk`, a day after the
//!   last change or later;
//! - falls to 0 if the share times the smallest loss exceeds `risk`, or the smallest loss is above
//!   a quarter;
//! - falls by a step, not below the first, if a full week is worse (`d / e <= -2.576`), and holds
//!   for 14 days; the first week of the first step is not judged, for a policy may explore there;
//! - falls to 0 if a guard's metric is surely worse than today's by more than it may.
//!
//! Clocks begin anew when the share changes, since a rate that is pooled over shares is confounded
//! with days. No verdict is kept: a later week replaces it. Where the week's interval and that
//! since the change do not overlap, something has changed, and the share does not rise.
//!
//! [`Launch::look`] only reads. What it returns is kept as an event and handed to
//! [`Launch::change`], so that a replay never decides again.
//!
//! Reference: none for the rule; [`split`](crate::split) for errors, [`ab_test`](crate::ab_test)
//! for the boundary, tightest where the error is `r risk / next share / 3`. Deviations: none.

use crate::ab_test::{least_sessions, mixture};
use crate::split::{Before, Cell, Difference, Place, Sides};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const DAY: u64 = 86_400_000;
const WEEK: u64 = 7 * DAY;
/// The share does not rise for this time after a worse week.
const HOLD: u64 = 14 * DAY;
/// A week is worse or better from this size of `z` on: 1 of 100 weeks, of equal sides.
pub const WEEK_Z: f64 = 2.576;
/// The probability that the boundary is ever passed by equal sides.
const MISS: f64 = 0.05;
/// A loss that is surely larger stops a launch at every share.
pub const SURELY_BROKEN: f64 = 0.25;
/// Values that a guard needs on each side.
const LEAST_VALUES: f64 = 100.0;
/// Changes and weeks that are kept for the report.
const KEPT: usize = 104;

/// How a launch goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// The name, by which users are put on sides: another name is another launch.
    pub name: String,
    /// Shares of users on the policy's side, rising. Without any, the policy is never shown.
    pub steps: Vec<f64>,
    /// The share of all clicks that may be lost.
    #[serde(default = "usual_risk")]
    pub risk: f64,
    /// Decisions of a query that show today's list to everybody, before any is compared.
    #[serde(default = "usual_first")]
    pub first: u32,
    /// Metrics of the client that stop the launch.
    #[serde(default)]
    pub guards: Vec<Guard>,
}

fn usual_risk() -> f64 {
    0.02
}

fn usual_first() -> u32 {
    50
}

/// A metric that stops a launch where it is worse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Guard {
    /// The name of the metric.
    pub metric: String,
    /// The direction that is worse.
    pub worse: Direction,
    /// The most by which it may be worse, relative to today's mean.
    pub most: f64,
}

/// A direction of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Larger values.
    Up,
    /// Smaller values.
    Down,
}

impl Settings {
    /// The place of the guard that has a metric.
    pub fn guard(&self, metric: &str) -> Option<usize> {
        self.guards.iter().position(|guard| guard.metric == metric)
    }

    /// The keys at fault, and why.
    pub fn faults(&self) -> Vec<(&'static str, String)> {
        let Self { name, steps, risk, guards, .. } = self;
        let mut faults = Vec::new();
        let is_name = |name: &str| !name.is_empty() && !name.chars().any(char::is_control);
        let of_name = "expected at least one character, and no control characters";
        if !is_name(name) {
            faults.push(("name", of_name.to_owned()));
        }
        let is_share = |share: &f64| *share > 0.0 && *share <= 0.99;
        if steps.len() > 8 || !steps.iter().all(is_share) || !steps.windows(2).all(|pair| pair[0] < pair[1]) {
            faults.push(("steps", "expected at most 8 rising shares, above 0 and at most 0.99".to_owned()));
        }
        if !(*risk > 0.0 && *risk < 1.0) {
            faults.push(("risk", format!("{risk} found: expected a number above 0 and below 1")));
        }
        for (place, Guard { metric, most, .. }) in guards.iter().enumerate() {
            if !(*most > 0.0 && *most < 1.0) {
                let what = format!("`{metric}`: most = {most} found: expected a number above 0 and below 1");
                faults.push(("guards", what));
            }
            if !is_name(metric) {
                faults.push(("guards", format!("metric = {metric:?} found: {of_name}")));
            } else if guards[..place].iter().any(|other| other.metric == *metric) {
                faults.push(("guards", format!("`{metric}` is there before")));
            }
        }
        faults
    }
}

/// Why the share is what it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The launch began, or its settings changed.
    Began,
    /// The next step loses at most the risk.
    Rose,
    /// More than the risk was lost.
    Braked,
    /// The policy is surely a quarter worse.
    Broken,
    /// A guard's metric is worse; its name.
    Guard(String),
    /// The week was worse.
    WorseWeek,
    /// A week ended, and the share stays.
    Week,
    /// Somebody said so.
    ByHand,
}

/// A full week at one share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Week {
    /// When it ended, in milliseconds since 1970.
    pub end: u64,
    /// The share of users on the policy's side.
    pub share: f64,
    /// Clicks a session on both sides.
    pub clicks: Difference,
}

impl Week {
    /// The difference of the clicks by its error.
    pub fn z(&self) -> f64 {
        self.clicks.difference / self.clicks.standard_error
    }

    /// `Some(true)` if the policy was better, `Some(false)` if it was worse.
    pub fn verdict(&self) -> Option<bool> {
        (self.z().abs() >= WEEK_Z).then(|| self.z() > 0.0)
    }
}

/// A change of the share, or the end of a week.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// When, in milliseconds since 1970.
    pub time: u64,
    /// The share from now on.
    pub share: f64,
    /// The reason.
    pub why: Why,
    /// The week that ended, if one did.
    pub week: Option<Week>,
}

/// A decision that is compared, as it is kept until its last answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compared {
    /// The user's group.
    pub cell: Cell,
    /// Whether the policy's list was shown.
    pub side: bool,
    /// The number of the period in which it was made, modulo 256.
    pub period: u8,
}

impl From<Compared> for u32 {
    fn from(of: Compared) -> Self {
        let Cell { group, bracket } = of.cell;
        u32::from(group) | u32::from(bracket) << 10 | u32::from(of.period) << 16 | u32::from(of.side) << 24
    }
}

impl From<u32> for Compared {
    fn from(bits: u32) -> Self {
        let cell = Cell { group: (bits & 0x3ff) as u16, bracket: (bits >> 10 & 0x1f) as u8 };
        Self { cell, side: bits >> 24 & 1 == 1, period: (bits >> 16 & 0xff) as u8 }
    }
}

/// The interval of a difference since the share's last change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Since {
    /// Clicks a session on both sides.
    pub clicks: Difference,
    /// Half of the width of the interval, which holds at all times together.
    pub reach: f64,
    /// Whether it is too early to decide: fewer than 100 clicks are expected of the smaller side.
    pub is_early: bool,
}

impl Since {
    /// The smallest and the largest loss, as a share of today's clicks.
    pub fn loss(&self) -> [f64; 2] {
        let Difference { difference, rates, .. } = self.clicks;
        [(-difference - self.reach) / rates[0], (self.reach - difference) / rates[0]]
    }
}

/// The state of a launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// How it goes on.
    pub settings: Settings,
    /// The share of users on the policy's side.
    pub share: f64,
    /// When the share changed last, in milliseconds since 1970.
    pub since: u64,
    /// Number of changes of the share.
    period: u8,
    /// The share does not rise before this time.
    held_until: u64,
    /// Whether somebody holds the share.
    is_held: bool,
    /// Clicks in the shadow, before any user saw the policy's lists.
    before: Before,
    /// Whether no user has seen the policy's lists yet.
    pub in_shadow: bool,
    /// Sums since the share's last change: clicks, and the metric of each guard.
    now: Vec<Sides>,
    week: Vec<Sides>,
    week_began: u64,
    /// Full weeks, the last ones.
    pub weeks: Vec<Week>,
    /// Changes of the share, the last ones.
    pub path: Vec<Change>,
    /// Sessions and clicks of today's side and the policy's since the beginning.
    pub total: [[f64; 2]; 2],
    /// Clicks that the policy's side gained in earlier periods, and the reach of their interval.
    gained: [f64; 2],
}

impl Launch {
    /// A launch that begins at the first step, in milliseconds since 1970.
    pub fn new(settings: Settings, time: u64) -> Self {
        let share = settings.steps.first().copied().unwrap_or(0.0);
        let empty = vec![Sides::default(); 1 + settings.guards.len()];
        Self {
            share,
            since: time,
            period: 0,
            held_until: 0,
            is_held: false,
            before: Before::default(),
            in_shadow: share == 0.0,
            now: empty.clone(),
            week: empty,
            week_began: time,
            weeks: Vec::new(),
            path: vec![Change { time, share, why: Why::Began, week: None }],
            total: [[0.0; 2]; 2],
            gained: [0.0; 2],
            settings,
        }
    }

    /// The launch with other settings: a new period, or another launch if the name differs. The
    /// share stays if it is one of the steps or these are the same; otherwise it is the next step
    /// below, or the first one. A launch that was stopped stays so.
    #[must_use]
    pub fn with_settings(mut self, settings: Settings, time: u64) -> Self {
        if settings.name != self.settings.name {
            return Self::new(settings, time);
        }
        let steps = &settings.steps;
        let stays = self.is_stopped() || *steps == self.settings.steps || steps.contains(&self.share);
        let below = steps.iter().copied().rev().find(|step| *step <= self.share);
        let share = match steps.first() {
            None => 0.0,
            Some(_) if stays => self.share,
            // Steps that begin above the share are asked for, unless the share is held.
            Some(first) => below.unwrap_or(if self.is_held { self.share } else { *first }),
        };
        self.gained = self.gained();
        (self.settings, self.share) = (settings, share);
        self.now.truncate(1);
        self.begin(time);
        keep(&mut self.path, Change { time, share, why: Why::Began, week: None });
        self
    }

    /// Returns whether the policy was shown, and is not any more although there are steps.
    pub fn is_stopped(&self) -> bool {
        self.share == 0.0 && !self.in_shadow && !self.settings.steps.is_empty()
    }

    /// The change that stopped it.
    pub fn stop(&self) -> Option<&Change> {
        self.path.iter().rev().take_while(|change| change.share == 0.0).last()
    }

    /// The share at which users were compared last: the one before a stop.
    pub fn compared_share(&self) -> f64 {
        let before = self.path.iter().rev().map(|change| change.share).find(|share| *share > 0.0);
        before.filter(|_| self.is_stopped()).unwrap_or(self.share)
    }

    /// Whether the share may not rise at a time.
    pub fn is_held(&self, time: u64) -> bool {
        self.is_held || time < self.held_until
    }

    /// Until when a worse week holds the share; `None` if somebody holds it.
    pub fn held_until(&self) -> Option<u64> {
        (!self.is_held).then_some(self.held_until)
    }

    /// The next step, if there is one.
    pub fn next_share(&self) -> Option<f64> {
        self.step_above(self.share)
    }

    fn step_above(&self, share: f64) -> Option<f64> {
        self.settings.steps.iter().copied().find(|step| *step > share)
    }

    /// The step that follows a worse week, if there is a lower one.
    pub fn step_below(&self) -> Option<f64> {
        self.settings.steps.iter().copied().rev().find(|step| *step < self.share)
    }

    /// Holds the share, or lets it rise again.
    pub fn hold(&mut self, is_held: bool) {
        self.is_held = is_held;
        self.held_until = 0;
    }

    /// A session of a user at the present share.
    pub fn place(&self, place: Place) -> Compared {
        Compared { cell: place.cell(), side: place.is_below(self.share), period: self.period }
    }

    /// Counts a session.
    pub fn decide(&mut self, decision: Compared) {
        self.add(decision, u64::MAX, 0, 1.0, 0.0);
    }

    /// Adds clicks of a decision that was made at a time.
    pub fn click(&mut self, decision: Compared, made: u64, clicks: f64) {
        self.add(decision, made, 0, 0.0, clicks);
    }

    /// Replaces the value of a guard's metric of a decision that was made at a time.
    pub fn measure(&mut self, decision: Compared, made: u64, guard: usize, old: Option<f64>, new: f64) {
        let is_first = f64::from(u8::from(old.is_none()));
        self.add(decision, made, 1 + guard, is_first, new - old.unwrap_or(0.0));
    }

    fn add(&mut self, decision: Compared, made: u64, metric: usize, sessions: f64, sum: f64) {
        let Compared { cell, side, period } = decision;
        if metric == 0 {
            let total = &mut self.total[usize::from(side)];
            total[0] += sessions;
            total[1] += sum;
        }
        if period != self.period || self.is_stopped() {
            return;
        }
        if self.in_shadow && metric == 0 {
            self.before.add(cell, sessions, sum);
        }
        if let Some(now) = self.now.get_mut(metric) {
            now.add(cell, side, sessions, sum);
            if made >= self.week_began {
                self.week[metric].add(cell, side, sessions, sum);
            }
        }
    }

    fn compare(&self, sums: &[Sides], metric: usize) -> Difference {
        let before = (metric == 0 && !self.in_shadow).then(|| self.before.at(self.compared_share()));
        sums[metric].compare(before.as_ref(), &sums[0].robots())
    }

    /// The clicks since the share's last change; after a stop, those from the change before until
    /// then.
    pub fn clicks_since(&self) -> Since {
        let clicks = self.compare(&self.now, 0);
        let share = self.compared_share();
        let next = self.step_above(share).unwrap_or(share);
        let plan = clicks.rates[0] * self.settings.risk / next / 3.0;
        let reach = reach(clicks.standard_error, plan, MISS);
        let sessions = clicks.sessions[0].min(clicks.sessions[1]);
        let rate = clicks.rates[0].max(clicks.rates[1]);
        let is_enough = sessions >= least_sessions(rate) && reach.is_finite();
        Since { clicks, reach, is_early: !is_enough }
    }

    /// The metric of a guard since the share's last change, and by how much it is surely above what
    /// it may be; `None` without enough values.
    pub fn guard(&self, guard: usize) -> (Difference, Option<f64>) {
        let found = self.compare(&self.now, 1 + guard);
        let Guard { worse, most, .. } = self.settings.guards[guard];
        let most = most * found.rates[0].abs();
        let excess = match worse {
            Direction::Up => found.difference - most,
            Direction::Down => -found.difference - most,
        };
        let error = found.standard_error * (1.0 + self.settings.guards[guard].most);
        // A mean of 0 has no relative difference.
        let plan = if most > 0.0 { most / 3.0 } else { error };
        let surely = excess - reach(error, plan, MISS / self.settings.guards.len() as f64);
        let is_enough = found.sessions.iter().all(|values| *values >= LEAST_VALUES);
        (found, (is_enough && surely.is_finite()).then_some(surely))
    }

    /// The change that is due at a time, if one is.
    pub fn look(&self, time: u64) -> Option<Change> {
        if self.share == 0.0 {
            return None;
        }
        let since = self.clicks_since();
        let week = self.is_week_over(time).then(|| {
            let weeks = (time - self.week_began) / WEEK;
            Week {
                end: self.week_began + weeks * WEEK,
                share: self.share,
                clicks: self.compare(&self.week, 0),
            }
        });
        let change = |share, why| Some(Change { time, share, why, week });
        if let Some(guard) = (0..self.settings.guards.len()).find(|&guard| self.guard(guard).1 > Some(0.0)) {
            return change(0.0, Why::Guard(self.settings.guards[guard].metric.clone()));
        }
        let [least, most] = since.loss();
        if !since.is_early && least > SURELY_BROKEN {
            return change(0.0, Why::Broken);
        }
        if !since.is_early && self.share * least > self.settings.risk {
            return change(0.0, Why::Braked);
        }
        let first = self.settings.steps.first().copied().unwrap_or(0.0);
        let is_first_week = self.share <= first && self.week_began == self.since;
        if !is_first_week && week.is_some_and(|week| week.verdict() == Some(false)) {
            return change(self.step_below().unwrap_or(self.share), Why::WorseWeek);
        }
        let is_changed = week.as_ref().or(self.last_week()).is_some_and(|week| has_changed(&since, week));
        let may_rise = !since.is_early && !is_changed && !self.is_held(time) && time >= self.since + DAY;
        match self.next_share() {
            Some(next) if may_rise && next * most <= self.settings.risk => change(next, Why::Rose),
            _ => week.and_then(|_| change(self.share, Why::Week)),
        }
    }

    /// Whether a week is over that was not judged.
    pub fn is_week_over(&self, time: u64) -> bool {
        self.share > 0.0 && time >= self.week_began.saturating_add(WEEK)
    }

    /// The last full week of this period, if one has ended.
    pub fn last_week(&self) -> Option<&Week> {
        self.weeks.last().filter(|week| week.end > self.since)
    }

    /// Whether the last week and the time since the share's last change contradict each other.
    pub fn has_changed(&self) -> bool {
        self.last_week().is_some_and(|week| has_changed(&self.clicks_since(), week))
    }

    /// Does what [`look`](Self::look) found, or what somebody said.
    pub fn change(&mut self, change: Change) {
        if let Some(week) = change.week {
            keep(&mut self.weeks, week);
            self.week_began = week.end;
            self.week.iter_mut().for_each(|sides| *sides = Sides::default());
        }
        if change.why == Why::WorseWeek {
            self.held_until = change.time.saturating_add(HOLD);
        }
        if change.share != self.share {
            self.gained = self.gained();
            self.share = change.share;
            self.begin(change.time);
        }
        if change.why != Why::Week {
            keep(&mut self.path, change);
        }
    }

    /// Begins a period.
    fn begin(&mut self, time: u64) {
        self.since = time;
        self.week_began = time;
        self.in_shadow &= self.share == 0.0;
        // The shadow goes on with its clicks, so its late answers count.
        self.period = self.period.wrapping_add(u8::from(!self.in_shadow));
        let empty = vec![Sides::default(); 1 + self.settings.guards.len()];
        if self.is_stopped() {
            // The report tells of the sums that stopped it.
            self.now.resize(empty.len(), Sides::default());
        } else {
            self.now.clone_from(&empty);
        }
        self.week = empty;
    }

    /// Clicks that the policy's side gained since the beginning, and half of the width of their
    /// interval: reaches of periods are added, since users are the same.
    pub fn gained(&self) -> [f64; 2] {
        let Since { clicks, reach, is_early } = self.clicks_since();
        let ([gained, reached], sessions) = (self.gained, clicks.sessions[1]);
        if is_early || self.is_stopped() {
            return self.gained;
        }
        [gained + clicks.difference * sessions, reached + reach * sessions]
    }

    /// Days from the share's last change to the next step if both sides are alike, at the traffic
    /// since then; `None` without a next step, or if it takes more than a thousand days.
    pub fn days_to_next(&self, time: u64) -> Option<f64> {
        let next = self.next_share().filter(|_| !self.is_stopped())?;
        let Since { clicks, .. } = self.clicks_since();
        let days = time.saturating_sub(self.since) as f64 / DAY as f64;
        let error = clicks.standard_error / clicks.rates[0] * days.sqrt();
        days_of_step(error, next, self.settings.risk)
    }
}

/// Days until a share may rise to `next` if both sides are alike; `error` is that of the relative
/// difference after one day. `None` if they are more than a thousand.
pub fn days_of_step(error: f64, next: f64, risk: f64) -> Option<f64> {
    let is_enough = |days: f64| next * reach(error / days.sqrt(), risk / next / 3.0, MISS) <= risk;
    (1..=1_000).map(f64::from).find(|days| is_enough(*days))
}

/// Days at a last step until a policy that halves the clicks is stopped, as in [`days_of_step`].
pub fn days_of_brake(error: f64, share: f64, risk: f64) -> Option<f64> {
    let (least, plan) = ((risk / share).min(SURELY_BROKEN), risk / share / 3.0);
    let is_enough = |days: f64| 0.5 - reach(error / days.sqrt(), plan, MISS) > least;
    (1..=1_000).map(f64::from).find(|days| is_enough(*days))
}

/// Half of the width of an interval that holds at all times, tightest at the error `plan`.
fn reach(error: f64, plan: f64, miss: f64) -> f64 {
    let (at_plan, boundary) = mixture(miss);
    boundary(at_plan * (plan / error).powi(2)) * error
}

fn has_changed(since: &Since, week: &Week) -> bool {
    let apart = (since.clicks.difference - week.clicks.difference).abs();
    apart > since.reach + WEEK_Z * week.clicks.standard_error
}

/// Adds to the last ones that are kept.
fn keep<T>(all: &mut Vec<T>, one: T) {
    if all.len() == KEPT {
        all.remove(0);
    }
    all.push(one);
}
