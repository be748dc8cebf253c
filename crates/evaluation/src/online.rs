//! Which of two rankers is better: the rows of a test with real users, and its verdict day by day.
//!
//! An interleaved comparison has a click a row, with the team of the clicked item; an A/B test has
//! a session a row, with its arm and its clicks. The unit of both is the user, and statistics are
//! those of [`TeamTest`] and [`AbTest`]. Rows are counted as they are read: memory grows with
//! users. If rows of an earlier day follow those of a later one, the log is read again, and its
//! rows are kept and sorted by day.

mod columns;
mod places;
mod plan;
mod record;
mod words;

pub use columns::row_columns;
pub use interleaving::ab_test::LEAST_CLICKS;
pub use places::Stops;
pub use plan::{Plan, PlanRow, PlanSettings};

use confidence::sequence::{CoinMixture, ConfidenceSequence as _};
use documents::number::grouped;
use documents::remark;
use documents::remark::{Code, Remark, code};
use interleaving::plan::split_probability;
use interleaving::{AbResult, AbTest, Arm, Tally, TeamTest};
use log_reader::{Fault, ReadReport, TakeRows, Value, time, unit_hash};
use num_traits::ToPrimitive as _;
use places::Places;

/// The probability of a false alarm, unless a level is given.
pub const MISS: f64 = 0.05;
/// A split less likely than this has no verdict.
const UNLIKELY_SPLIT: f64 = 0.001;
const TOO_FEW: Code = code("too-few-clicks");
/// The interval holds no difference.
pub const HOLDS_ZERO: Code = code("interval-holds-zero");
/// A larger share of users in both arms has no verdict.
const MOST_IN_BOTH: f64 = 0.01;
/// As many users of either team, with several clicks each, tell whether users see both teams.
const FEWEST_APART: u64 = 20;

/// The kind of the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Users saw lists of both rankers.
    Interleaving,
    /// Each user saw lists of one ranker.
    Ab,
}

/// The metric of an A/B test: a number of each session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Clicks, whole numbers.
    Clicks,
    /// The value of clicks, from 0 to 1e9.
    Value,
}

/// How a test is judged.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings")]
pub struct Settings {
    /// The kind of the test.
    pub kind: Kind,
    /// Whether a list is a unit of an interleaved comparison, in place of the user.
    pub by_list: bool,
    /// Clicks below this position are not credited.
    pub depth: Option<u64>,
    /// The metric of an A/B test.
    pub metric: Metric,
    /// Users of an A/B test with more sessions are left out.
    pub most_sessions: Option<u32>,
    /// The planned share of users in the baseline.
    pub split: f64,
    /// Users in the smaller arm at which an A/B test with an open end is most powerful.
    pub planned: u64,
    /// Whether that number was given, so that the test says how much of it is there.
    pub is_planned: bool,
    /// Look and number of looks of an A/B test with a fixed end.
    pub look: Option<(u32, u32)>,
    /// The name of the baseline; the first of both in their order if absent.
    pub baseline: Option<String>,
    /// Whether rows without an arm are those of one arm, as before a test.
    pub before: bool,
    /// The probability of a false alarm, above 0 and at most .5.
    pub miss: f64,
    /// Whether the reader leaves repeated clicks out, so that none is looked for.
    pub are_first: bool,
}

/// The probability of a false alarm of a level: of .95 as of .05, as people write either. `None`
/// unless it is above 0 and below 1.
pub fn miss_of_level(level: f64) -> Option<f64> {
    let miss = if level >= 0.5 { 1.0 - level } else { level };
    // Without the digits that 1 - .95 has and .05 has not.
    Some((1e12 * miss).round() / 1e12).filter(|miss| *miss > 0.0 && *miss <= 0.5)
}

impl Settings {
    /// A test of this kind that may be looked at any time.
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            by_list: false,
            depth: None,
            metric: Metric::Clicks,
            most_sessions: None,
            split: 0.5,
            planned: 10_000,
            is_planned: false,
            look: None,
            baseline: None,
            before: false,
            miss: MISS,
            are_first: false,
        }
    }
}

/// Why a test has no outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "described where the messages do not say all")]
pub enum OnlineError<E> {
    /// The log could not be read.
    #[error("{0}")]
    Log(E),
    #[error("the log has no click of the test")]
    NoRows,
    #[error("every row is of `{0}`: a test compares two")]
    OneName(String),
    #[error("the baseline `{baseline}` is neither `{}` nor `{}`", .names[0], .names[1])]
    Baseline { baseline: String, names: [String; 2] },
    #[error("look {0} of {1}: expected {expected}", expected = expected_look(*.1))]
    Look(u32, u32),
}

fn expected_look(looks: u32) -> String {
    if (1..=28).contains(&looks) { format!("1 to {looks}") } else { "1 to 28 looks".to_owned() }
}

/// The state of a test at the end of a day, or of the log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Days since 1970-01-01; `None` for a log without times.
    pub day: Option<i64>,
    /// Users that each ranker won, or users of each arm; the baseline first.
    pub users: [u64; 2],
    /// Users that neither ranker won.
    pub ties: u64,
    /// The share of users that the new ranker won, of those without a tie; or its clicks a session
    /// minus those of the baseline.
    pub estimate: f64,
    /// An interval for the estimate that holds at all looks together.
    pub interval: Option<(f64, f64)>,
    /// The logarithm of the evidence of a difference, or the size of `z`.
    pub evidence: f64,
    /// The evidence or the size of `z` that decides.
    pub decides: f64,
    /// The place of the better ranker, or why this look does not decide.
    pub better: Result<usize, Code>,
}

/// The outcome of a test.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How it was judged.
    pub settings: Settings,
    /// The baseline, and the other ranker.
    pub names: [String; 2],
    /// The state at the end of every day, the last one at the end of the log.
    pub looks: Vec<Look>,
    /// The place of the better ranker by the last look, and the first look from which on all say
    /// so.
    pub decided: Option<(usize, usize)>,
    /// The first look whose interval excludes all that an earlier one held, and that one before
    /// it. All intervals hold an effect that stays, but for the probability of a false alarm.
    pub changed: Option<(usize, usize)>,
    /// Why there is no verdict, whatever the evidence.
    pub refused: Vec<Remark>,
    /// The arms of an A/B test, the baseline first.
    pub arms: Option<AbResult>,
    /// Probability of a split at least as uneven, of an A/B test.
    pub split: Option<f64>,
    /// Clicks of each ranker.
    pub clicks: [u64; 2],
    /// The share of all clicks, or of their value, that are of the user with the most.
    pub heaviest: f64,
    /// Rows whose time is before that of the row above.
    pub times_back: u64,
    /// Clicks on a place of a list that was clicked before, which count once.
    pub repeated_clicks: u64,
    /// Rows with the user and the time of the row above, and all rows, if rows seem to be the items
    /// of lists and not sessions.
    pub rows_of_items: Option<[u64; 2]>,
    /// Whether users stop at clicks, as far as lists whose items are known tell it.
    pub stops: Stops,
    /// The report of the reader.
    pub report: ReadReport,
}

/// Reads a test. `read` hands over all rows, and may be called a second time, with 1 in place of 0.
///
/// # Errors
///
/// Fails if `read` does, or with an [`OnlineError`].
///
/// # Panics
///
/// Never: the false-alarm probability is valid.
pub fn online<E>(
    settings: &Settings,
    mut read: impl FnMut(usize, &mut dyn TakeRows) -> Result<ReadReport, E>,
) -> Result<Outcome, OnlineError<E>> {
    if let Some((look, looks)) = settings.look {
        let test = AbTest::new(settings.miss).expect("valid");
        test.boundary_at(look, looks).ok_or(OnlineError::Look(look, looks))?;
    }
    let mut rows = Rows::new(settings, None);
    let mut report = read(0, &mut rows);
    if rows.is_out_of_order {
        rows = Rows::new(settings, Some(Vec::new()));
        report = read(1, &mut rows);
    }
    rows.finish(report.map_err(OnlineError::Log)?)
}

/// A row that is kept until all are sorted.
#[derive(Debug, Clone, Copy)]
struct Row {
    unit: u64,
    /// A hash of the list, and of its user in a table, and the position; 0 if they are not known.
    list: u64,
    position: u32,
    day: i32,
    /// Clicks, or their value.
    clicks: f64,
    second: bool,
}

#[derive(Debug)]
enum Test {
    Teams(TeamTest),
    Ab(Box<AbTest>),
}

/// The rows so far.
#[derive(Debug)]
struct Rows<'s> {
    settings: &'s Settings,
    test: Test,
    places: Places,
    /// The first name and the second, in the order of rows.
    names: Vec<Box<[u8]>>,
    looks: Vec<Look>,
    /// The time of the row above, in milliseconds, and its user.
    time: Option<i64>,
    unit: u64,
    /// Rows with the user and the time of the row above, and all rows.
    like_above: [u64; 2],
    /// The most clicks of a row.
    most_clicks: f64,
    day: Option<i64>,
    began: bool,
    times_back: u64,
    is_out_of_order: bool,
    /// The rows to sort; `None` if they are counted as they are read.
    kept: Option<Vec<Row>>,
}

impl<'s> Rows<'s> {
    fn new(settings: &'s Settings, kept: Option<Vec<Row>>) -> Self {
        let test = match settings.kind {
            Kind::Interleaving => Test::Teams(TeamTest::new(settings.miss).expect("valid")),
            Kind::Ab => {
                let test = AbTest::new(settings.miss).expect("valid");
                Test::Ab(Box::new(match settings.most_sessions {
                    None => test,
                    Some(most) => test.most_sessions(most),
                }))
            }
        };
        Self {
            settings,
            test,
            places: Places::default(),
            names: Vec::new(),
            looks: Vec::new(),
            time: None,
            unit: 0,
            like_above: [0; 2],
            most_clicks: 0.0,
            day: None,
            began: false,
            times_back: 0,
            is_out_of_order: false,
            kept,
        }
    }

    /// Whether a row is of the second name.
    fn second(&mut self, value: Option<Value<'_>>) -> Result<bool, Fault> {
        let Some(value) = value else {
            return if self.settings.before { Ok(false) } else { Err(Fault::Empty) };
        };
        let name = value.bytes();
        if name.is_empty() {
            return Err(Fault::Empty);
        }
        if let Some(place) = self.names.iter().position(|known| **known == *name) {
            return Ok(place == 1);
        }
        if self.names.len() == 2 {
            return Err(Fault::ThirdName);
        }
        std::str::from_utf8(&name).map_err(|_| Fault::NotUtf8)?;
        self.names.push(name.into());
        Ok(self.names.len() == 2)
    }

    /// Ends the day before that of a row, if it is another one.
    fn begin(&mut self, day: Option<i64>) {
        // The looks of a fixed end are not its days.
        if self.day != day && self.began && self.settings.look.is_none() {
            self.looks.push(self.look());
        }
        self.day = day;
        self.began = true;
    }

    fn count(&mut self, Row { unit, list, position, second, clicks, .. }: Row) {
        match &mut self.test {
            Test::Teams(test) => {
                if list == 0 || self.places.is_first(list, position) || self.settings.are_first {
                    test.observe(unit, second);
                }
            }
            Test::Ab(test) => {
                let arm = if second { Arm::B } else { Arm::A };
                if self.settings.metric == Metric::Value {
                    test.observe_value(unit, arm, clicks);
                } else {
                    test.observe(unit, arm, clicks.to_u32().unwrap_or(u32::MAX));
                }
            }
        }
    }

    /// The state now, in the order of rows.
    fn look(&self) -> Look {
        match &self.test {
            Test::Teams(test) => {
                let Tally { first, second, ties } = test.tally();
                Look::of_teams(self.day, [first, second], ties, self.settings.miss)
            }
            Test::Ab(test) => {
                let result = test.result();
                let users = result.arms.map(|arm| arm.users);
                let (boundary, is_early) = match self.settings.look {
                    None => (test.boundary(users[0].min(users[1]), self.settings.planned), result.is_early()),
                    Some((look, looks)) => (test.boundary_at(look, looks).unwrap_or(f64::INFINITY), false),
                };
                let reach = boundary * result.standard_error;
                let interval =
                    reach.is_finite().then_some((result.difference - reach, result.difference + reach));
                Look {
                    day: self.day,
                    users,
                    ties: 0,
                    estimate: result.difference,
                    interval,
                    evidence: result.z.abs(),
                    decides: boundary,
                    better: better(interval, 0.0, is_early.then_some(TOO_FEW)),
                }
            }
        }
    }

    fn finish<E>(mut self, report: ReadReport) -> Result<Outcome, OnlineError<E>> {
        if let Some(mut kept) = self.kept.take() {
            kept.sort_by_key(|row| row.day);
            for row in kept {
                self.begin(Some(row.day.into()));
                self.count(row);
            }
        }
        if !self.began {
            return Err(OnlineError::NoRows);
        }
        self.looks.push(self.look());
        let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        let mut names = match &*self.names {
            [first, second] => [name(first), name(second)],
            _ if self.settings.before => [String::new(), String::new()],
            names => {
                return Err(OnlineError::OneName(names.first().map(|only| name(only)).unwrap_or_default()));
            }
        };
        let is_swapped = match &self.settings.baseline {
            None => names[0] > names[1],
            Some(baseline) if names.contains(baseline) => names[1] == *baseline,
            Some(baseline) => return Err(OnlineError::Baseline { baseline: baseline.clone(), names }),
        };
        let (mut arms, mut clicks, heaviest) = match &self.test {
            Test::Teams(test) => {
                let (clicks, most) = test.clicks();
                (None, clicks, most as f64 / (clicks[0] + clicks[1]).max(1) as f64)
            }
            Test::Ab(test) => {
                let result = test.result();
                (Some(result), result.arms.map(|arm| arm.clicks), test.heaviest())
            }
        };
        if is_swapped {
            names.swap(0, 1);
            clicks.swap(0, 1);
            self.looks.iter_mut().for_each(|look| *look = look.swapped(self.settings));
            if let Some(result) = &mut arms {
                result.arms.swap(0, 1);
                result.n_left_out.swap(0, 1);
                result.difference = -result.difference;
                result.z = -result.z;
            }
        }
        let better = self.looks.last().and_then(|last| last.better.ok());
        let before = self.looks.iter().rposition(|look| look.better.ok() != better);
        let mut outcome = Outcome {
            settings: self.settings.clone(),
            decided: better.map(|place| (before.map_or(0, |before| before + 1), place)),
            changed: changed(&self.looks),
            names,
            looks: self.looks,
            refused: Vec::new(),
            split: arms.map(|of| split_probability(of.arms.map(|arm| arm.users), self.settings.split)),
            arms,
            clicks,
            heaviest,
            times_back: self.times_back,
            repeated_clicks: if self.settings.are_first { 0 } else { self.places.repeated },
            rows_of_items: Some(self.like_above).filter(|[like, all]| {
                self.settings.kind == Kind::Ab && 2 * like > *all && self.most_clicks <= 1.0
            }),
            stops: self.places.stops(report.ubi.as_ref().map_or(&[], |ubi| &ubi.lists)),
            report,
        };
        outcome.refused = outcome.why_refused();
        if let Test::Teams(test) = &self.test {
            outcome.refused.extend(apart(test.users_of_several()));
        }
        if let Some(Remark { code, .. }) = outcome.refused.first() {
            outcome.decided = None;
            outcome.looks.iter_mut().for_each(|look| look.better = Err(*code));
        }
        Ok(outcome)
    }
}

impl TakeRows for Rows<'_> {
    fn row(&mut self, values: &[Option<Value<'_>>; 6], _: &[Value<'_>]) -> Result<(), (usize, Fault)> {
        let [user, name, third, time, list, _] = *values;
        let unit_of = |value: Option<Value<'_>>| match value.map(|value| unit_hash(&value.bytes())) {
            Some(_) if matches!(value, Some(Value::Missing | Value::Text(b""))) => Err(Fault::Empty),
            Some(unit) => Ok(unit),
            None => Err(Fault::Empty),
        };
        let mut unit = unit_of(user).map_err(|fault| (columns::USER, fault))?;
        if self.settings.by_list {
            unit = unit_of(list).map_err(|fault| (columns::LIST, fault))?;
        }
        let second = self.second(name).map_err(|fault| (columns::NAME, fault))?;
        let mut place = (0, 0);
        let clicks = match (self.settings.kind, third) {
            (Kind::Interleaving, None) => 1.0,
            (Kind::Interleaving, Some(position)) => {
                let position = position.number().map_err(|fault| (columns::THIRD, fault))?;
                if self.settings.depth.is_some_and(|depth| position > depth) {
                    return Ok(());
                }
                if let (Ok(user), Ok(list)) = (unit_of(user), unit_of(list)) {
                    // Lists of a table are told apart within a user. Another odd factor than 1,
                    // since a user and a list may have one name.
                    let of_user = if self.settings.are_first { 0 } else { user };
                    let list = of_user.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(list).max(1);
                    place = (list, u32::try_from(position).unwrap_or(u32::MAX));
                }
                1.0
            }
            (Kind::Ab, third) if self.settings.metric == Metric::Value => {
                third.unwrap_or(Value::Missing).worth().map_err(|fault| (columns::THIRD, fault))?
            }
            (Kind::Ab, third) => {
                let number =
                    third.unwrap_or(Value::Missing).number().map_err(|fault| (columns::THIRD, fault))?;
                let max = u32::MAX.into();
                u32::try_from(number).map_err(|_| (columns::THIRD, Fault::TooLarge { max }))?.into()
            }
        };
        let time = time.map(time::milliseconds).transpose().map_err(|fault| (columns::TIME, fault))?;
        self.times_back += u64::from(time < self.time);
        // Many sessions have the same date.
        let has_time = time.is_some_and(|time| time.rem_euclid(time::MILLISECONDS_OF_A_DAY) != 0);
        self.like_above[0] += u64::from(has_time && (unit, time) == (self.unit, self.time));
        self.like_above[1] += 1;
        (self.unit, self.time, self.most_clicks) = (unit, time, self.most_clicks.max(clicks));
        let day = time.map(|time| time.div_euclid(time::MILLISECONDS_OF_A_DAY));
        let of_day = |day| Row { unit, list: place.0, position: place.1, day, clicks, second };
        if let (Some(kept), Some(day)) = (&mut self.kept, day) {
            kept.push(of_day(i32::try_from(day).map_err(|_| (columns::TIME, Fault::NotATime))?));
            return Ok(());
        }
        if day < self.day {
            self.is_out_of_order = true;
            return Err((columns::TIME, Fault::NotATime));
        }
        self.begin(day);
        self.count(of_day(0));
        Ok(())
    }
}

impl Look {
    /// The state of an interleaved comparison.
    fn of_teams(day: Option<i64>, users: [u64; 2], ties: u64, miss: f64) -> Self {
        let [old, new] = users;
        let wins = CoinMixture::with_counts(miss, new, old).expect("valid");
        let share = wins.interval();
        let interval = Some((share.lower, share.upper));
        Self {
            day,
            users,
            ties,
            estimate: new as f64 / (old + new) as f64,
            interval,
            evidence: wins.ln_evidence(),
            decides: 1.0 / miss,
            better: better(interval, 0.5, (users == [0, 0]).then_some(const { code("no-user-without-tie") })),
        }
    }

    /// The same state with the rankers in the other order.
    fn swapped(self, settings: &Settings) -> Self {
        let users = [self.users[1], self.users[0]];
        match settings.kind {
            // With the same bits as that of rows in another order.
            Kind::Interleaving => Self::of_teams(self.day, users, self.ties, settings.miss),
            Kind::Ab => Self {
                users,
                estimate: -self.estimate,
                interval: self.interval.map(|(low, high)| (-high, -low)),
                better: self.better.map(|place| 1 - place),
                ..self
            },
        }
    }
}

impl Outcome {
    /// The state at the end.
    ///
    /// # Panics
    ///
    /// Never: there is a look at the end of the log.
    pub fn last(&self) -> &Look {
        self.looks.last().expect("a look at the end")
    }

    /// The name of the better ranker.
    pub fn verdict(&self) -> Option<&str> {
        let (_, better) = self.decided?;
        Some(&self.names[better])
    }

    /// Mean and standard deviation of a user's clicks a session, over both arms of an A/B test.
    pub fn clicks_of_a_session(&self) -> Option<(f64, f64)> {
        let arms = self.arms?.arms;
        let sum = |of: fn(&interleaving::ArmResult) -> f64| arms.iter().map(of).sum::<f64>();
        let mean = sum(|arm| arm.clicks as f64) / sum(|arm| arm.sessions as f64);
        let squares: f64 = arms
            .iter()
            .filter(|arm| arm.users > 1)
            .map(|arm| (arm.users as f64 * arm.standard_error).powi(2))
            .sum();
        Some((mean, (squares / sum(|arm| arm.users as f64)).sqrt()))
    }

    fn why_refused(&self) -> Vec<Remark> {
        let (Some(result), Some(split)) = (&self.arms, self.split) else { return Vec::new() };
        let mut refused = Vec::new();
        if self.clicks == [0, 0] {
            refused.push(remark!("no-clicks"));
        }
        if split < UNLIKELY_SPLIT {
            let ([old, new], [of_old, of_new]) = (&self.names, self.last().users.map(grouped));
            let (planned, p) = (words::percent(self.settings.split), words::chance(split));
            refused.push(remark!("uneven-split", of_old, old, of_new, new, planned, p));
        }
        let users: u64 = result.arms.iter().map(|arm| arm.users).sum();
        let in_both = result.n_in_both as f64 / (users + result.n_in_both) as f64;
        if in_both > MOST_IN_BOTH {
            refused.push(remark!("users-in-both-arms", words::percent(in_both)));
        }
        refused
    }
}

/// The refusal of teams that hardly any user with several clicks has both of.
fn apart([first, second, both]: [u64; 3]) -> Option<Remark> {
    let all = first + second + both;
    let are_apart = first.min(second) >= FEWEST_APART && both as f64 <= MOST_IN_BOTH * all as f64;
    are_apart.then(|| remark!("teams-apart", grouped(both), grouped(all)))
}

/// The place of the better ranker by an interval, unless a rule holds the verdict back or the
/// interval holds no difference, which is `none`.
fn better(interval: Option<(f64, f64)>, none: f64, held_back: Option<Code>) -> Result<usize, Code> {
    if let Some(rule) = held_back {
        return Err(rule);
    }
    match interval {
        None => Err(const { code("unknown-error") }),
        Some((low, _)) if low > none => Ok(1),
        Some((_, high)) if high < none => Ok(0),
        Some(_) => Err(HOLDS_ZERO),
    }
}

/// The first look whose interval excludes all that an earlier one held, after that one. Looks that
/// are too early to decide are too early for this as well.
fn changed(looks: &[Look]) -> Option<(usize, usize)> {
    // The highest lower end so far and the lowest upper end, with their looks.
    let (mut highest, mut lowest) = ((f64::NEG_INFINITY, 0), (f64::INFINITY, 0));
    for (place, look) in looks.iter().enumerate() {
        let Some((low, high)) = look.interval.filter(|_| look.better != Err(TOO_FEW)) else {
            continue;
        };
        if high < highest.0 || low > lowest.0 {
            return Some((if high < highest.0 { highest.1 } else { lowest.1 }, place));
        }
        if low > highest.0 {
            highest = (low, place);
        }
        if high < lowest.0 {
            lowest = (high, place);
        }
    }
    None
}
