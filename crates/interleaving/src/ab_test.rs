//! An A/B test of two rankers by clicks a session, or their value, whose unit is the user.
//!
//! Sessions of a user are not independent, so errors by session are too small. With `T_u` clicks in
//! `m_u` sessions of user `u`, an arm of `U` users has
//!
//! ```text
//! rate r = sum T_u / sum m_u,       se^2 = U / (U - 1) sum (T_u - r m_u)^2 / (sum m_u)^2,
//! z = (r_B - r_A) / sqrt(se_A^2 + se_B^2)
//! ```
//!
//! With an *open end* the test may be looked at any time. It is decided once
//!
//! ```text
//! |z| >= sqrt((t rho + 1) / (t rho) ln((t rho + 1) / alpha^2)),     rho = (-2 ln alpha + ln(-2 ln alpha) + 1) / plan,
//! ```
//!
//! with `t` the users of the smaller arm and `plan` the number of them for which the test is most
//! powerful; not before 100 clicks would be expected of the arm with fewer sessions, at the higher
//! of the two rates, so that an arm without clicks is told. With values, `T_u` is the value, a
//! click is a session with one above 0, and sums are those of floats in the order of users. With a
//! *fixed end* there are `J` looks after equal numbers of users, and look `j` decides if `|z|
//! sqrt(j / J)` reaches O'Brien and Fleming's constant.
//!
//! References: Robbins, *Statistical methods related to the law of the iterated logarithm*, 1970
//! (normal mixture); Howard et al., Annals of Statistics 2021, section 3.5 (`rho`); O'Brien,
//! Fleming, *A multiple testing procedure for clinical trials*, Biometrics 1979; Deng, Knoblich,
//! Lu, *Applying the delta method in metric analytics*, KDD 2018 (the ratio's error). Deviations:
//! none.
//!
//! # Examples
//!
//! ```
//! use interleaving::{AbTest, Arm, Verdict};
//!
//! let mut test = AbTest::new(0.05)?;
//! for user in 0..2_000 {
//!     let arm = if user % 2 == 0 { Arm::A } else { Arm::B };
//!     // A third of the users of A click, and half of those of B.
//!     let clicks = u32::from(user / 2 % 6 < if arm == Arm::A { 2 } else { 3 });
//!     test.observe(user, arm, clicks);
//! }
//! let result = test.result();
//! assert!((result.difference - 1.0 / 6.0).abs() < 0.01);
//! assert_eq!(test.open_end(1_000), Verdict::Second);
//! # Ok::<(), confidence::Error>(())
//! ```

use crate::Verdict;
use crate::crossing::StoppedMotion;
use confidence::math::ln;
use confidence::{ErrorProbability, normal_quantile};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::ops::{AddAssign as _, SubAssign as _};

/// Clicks that have to be expected of the arm with fewer sessions before an open end may decide.
pub const LEAST_CLICKS: f64 = 100.0;
/// Fewer users whose rates are all the same do not tell how much rates vary.
const FEWEST_ALIKE: u64 = 100;
/// A smaller share of the squared clicks is what a subtraction loses.
const ROUNDING: f64 = 1e-12;

/// An arm of an A/B test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arm {
    /// The first ranker.
    A,
    /// The second ranker.
    B,
}

/// Sessions of an A/B test, by user.
///
/// Saved as its users, and counted again when it is loaded.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedTest", into = "SavedTest")]
pub struct AbTest {
    miss: f64,
    users: HashMap<u64, User, BuildHasherDefault<DefaultHasher>>,
    arms: [Sums; 2],
    n_in_both: u64,
    /// Users with more sessions are left out.
    most_sessions: Option<u32>,
    n_left_out: [u64; 2],
    /// The value of each user's clicks; none in a test of clicks.
    values: HashMap<u64, f64, BuildHasherDefault<DefaultHasher>>,
}

/// A user, in 8 bytes: memory limits large tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct User {
    clicks: u32,
    /// The arm in the two highest bits, and the number of sessions.
    sessions_of_arm: u32,
}

/// The most sessions of a user that are counted.
const MOST_SESSIONS: u32 = (1 << 30) - 1;

impl User {
    fn new(clicks: u32, sessions: u32, arm: Option<Arm>) -> Self {
        let arm = arm.map_or(2, |arm| arm as u32);
        Self { clicks, sessions_of_arm: arm << 30 | sessions.min(MOST_SESSIONS) }
    }

    fn sessions(self) -> u32 {
        self.sessions_of_arm & MOST_SESSIONS
    }

    /// `None` for a user of both arms, who is left out.
    fn arm(self) -> Option<Arm> {
        match self.sessions_of_arm >> 30 {
            0 => Some(Arm::A),
            1 => Some(Arm::B),
            _ => None,
        }
    }
}

/// Sums over the users of an arm: whole numbers, so that their order does not matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sums {
    users: u64,
    clicks: u64,
    sessions: u64,
    clicks_squared: u128,
    sessions_squared: u128,
    clicks_by_sessions: u128,
}

/// One user: number, arm (`None`: both), clicks, sessions.
type SavedUser = (u64, Option<Arm>, u32, u32);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedTest {
    miss: f64,
    most_sessions: Option<u32>,
    users: Vec<SavedUser>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    values: Vec<(u64, f64)>,
}

/// The state of an A/B test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AbResult {
    /// Arms A and B.
    pub arms: [ArmResult; 2],
    /// Clicks a session of B, or their value, minus those of A.
    pub difference: f64,
    /// Its standard error; NaN if an arm has none, or if it would be 0: then nothing tells how much
    /// users differ.
    pub standard_error: f64,
    /// Difference by its error.
    pub z: f64,
    /// Users of both arms, who are left out.
    pub n_in_both: u64,
    /// Users with more than the most sessions in arms A and B, who are left out.
    pub n_left_out: [u64; 2],
}

/// The state of an arm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArmResult {
    /// Users of this arm alone.
    pub users: u64,
    /// Their sessions.
    pub sessions: u64,
    /// Their clicks; with values their sessions with a value above 0.
    pub clicks: u64,
    /// Clicks a session, or their value.
    pub rate: f64,
    /// Standard error of the rate, by user; NaN of fewer than two users. Of users whose rates are
    /// all the same it is 0, and NaN of fewer than 100: so few may be alike by chance.
    pub standard_error: f64,
}

impl AbTest {
    /// A test without sessions, whose false-alarm probability is at most `miss`.
    ///
    /// # Errors
    ///
    /// [`confidence::Error::NotAnErrorProbability`] unless `0 < miss < 1`.
    pub fn new(miss: f64) -> Result<Self, confidence::Error> {
        let miss = ErrorProbability::new(miss)?.get();
        Ok(Self {
            miss,
            users: HashMap::default(),
            arms: [Sums::default(); 2],
            n_in_both: 0,
            most_sessions: None,
            n_left_out: [0; 2],
            values: HashMap::default(),
        })
    }

    /// Leaves out users with more sessions than `most`, from the session on with which they have
    /// more.
    #[must_use]
    pub fn most_sessions(self, most: u32) -> Self {
        Self { most_sessions: Some(most), ..self }
    }

    /// Adds a session of a user. A user of both arms is left out from then on.
    pub fn observe(&mut self, user: u64, arm: Arm, clicks: u32) {
        self.add(user, Some(arm), clicks, 1);
    }

    /// Adds a session of a user, with the value of its clicks, at least 0. All sessions of a test
    /// have a value, or none.
    pub fn observe_value(&mut self, user: u64, arm: Arm, value: f64) {
        self.add(user, Some(arm), u32::from(value > 0.0), 1);
        *self.values.entry(user).or_default() += value;
    }

    fn add(&mut self, user: u64, arm: Option<Arm>, clicks: u32, sessions: u32) {
        let most = self.most_sessions.unwrap_or(u32::MAX);
        let user = self.users.entry(user).or_insert(User::new(0, 0, arm));
        let before = user.arm();
        match before {
            _ if user.sessions() == 0 => {}
            Some(arm) if user.sessions() > most => self.n_left_out[arm as usize] -= 1,
            Some(arm) => self.arms[arm as usize].change(*user, u64::sub_assign, u128::sub_assign),
            None => self.n_in_both -= 1,
        }
        let [clicks, sessions] =
            [user.clicks.saturating_add(clicks), user.sessions().saturating_add(sessions)];
        *user = User::new(clicks, sessions, before.filter(|_| before == arm));
        match user.arm() {
            Some(arm) if user.sessions() > most => self.n_left_out[arm as usize] += 1,
            Some(arm) => self.arms[arm as usize].change(*user, u64::add_assign, u128::add_assign),
            None => self.n_in_both += 1,
        }
    }

    /// Users who are in one arm and not left out, with their clicks, or their value.
    fn counted(&self) -> impl Iterator<Item = (u64, User, f64)> {
        let most = self.most_sessions.unwrap_or(u32::MAX);
        let counted = self.users.iter().filter(move |(_, of)| of.arm().is_some() && of.sessions() <= most);
        counted.map(|(user, of)| (*user, *of, self.values.get(user).copied().unwrap_or(of.clicks.into())))
    }

    /// The share of all clicks, or of their value, that are of the user with the most.
    pub fn heaviest(&self) -> f64 {
        let add =
            |(most, all): (f64, f64), (_, _, clicks): (u64, User, f64)| (most.max(clicks), all + clicks);
        let (most, all) = self.counted().fold((0.0, 0.0), add);
        if all > 0.0 { most / all } else { 0.0 }
    }

    /// The arms of a test of values.
    fn of_values(&self) -> [ArmResult; 2] {
        let mut users: Vec<(u64, User, f64)> = self.counted().collect();
        users.sort_unstable_by_key(|(user, ..)| *user);
        [Arm::A, Arm::B].map(|arm| {
            let sums = self.arms[arm as usize];
            let of_arm = || users.iter().filter(|(_, of, _)| of.arm() == Some(arm));
            let rate = of_arm().map(|(.., value)| value).sum::<f64>() / sums.sessions as f64;
            let square =
                |(_, of, value): &(u64, User, f64)| (value - rate * f64::from(of.sessions())).powi(2);
            let all: f64 = of_arm().map(|(.., value)| value * value).sum();
            sums.arm(rate, of_arm().map(square).sum(), all)
        })
    }

    /// Rates, errors and the difference so far.
    pub fn result(&self) -> AbResult {
        let arms = if self.values.is_empty() { self.arms.map(Sums::result) } else { self.of_values() };
        let difference = arms[1].rate - arms[0].rate;
        let standard_error = arms[0].standard_error.hypot(arms[1].standard_error);
        let standard_error = if standard_error > 0.0 { standard_error } else { f64::NAN };
        AbResult {
            arms,
            difference,
            standard_error,
            z: difference / standard_error,
            n_in_both: self.n_in_both,
            n_left_out: self.n_left_out,
        }
    }

    /// The verdict of a test that may be looked at any time, most powerful after `plan` users in
    /// each arm.
    pub fn open_end(&self, plan: u64) -> Verdict {
        let result = self.result();
        let n_users = result.arms[0].users.min(result.arms[1].users);
        verdict(result.z, if result.is_early() { f64::INFINITY } else { self.boundary(n_users, plan) })
    }

    /// The size of `z` that decides a test with an open end, after `n_users` users in the smaller
    /// arm.
    pub fn boundary(&self, n_users: u64, plan: u64) -> f64 {
        let (at_plan, boundary) = mixture(self.miss);
        boundary(n_users as f64 * at_plan / plan as f64)
    }

    /// The verdict at one of several looks, the last one at the end; each after the same number of
    /// users. `None` unless the test has 1 to 28 looks, and `look` is one of them, from 1 on.
    pub fn fixed_end(&self, look: u32, n_looks: u32) -> Option<Verdict> {
        Some(verdict(self.result().z, self.boundary_at(look, n_looks)?))
    }

    /// The size of `z` that decides at a look; `None` as for [`fixed_end`](Self::fixed_end).
    pub fn boundary_at(&self, look: u32, n_looks: u32) -> Option<f64> {
        let look = (1..=n_looks).contains(&look).then_some(look)?;
        Some(obrien_fleming(n_looks, self.miss)? * (f64::from(n_looks) / f64::from(look)).sqrt())
    }
}

/// The time at which the normal mixture is most powerful, and the size of `z` that decides at a
/// time.
pub(crate) fn mixture(miss: f64) -> (f64, impl Fn(f64) -> f64) {
    let log = -2.0 * ln(miss);
    let boundary = move |time: f64| ((time + 1.0) / time * (ln(time + 1.0) + log)).sqrt();
    (log + ln(log) + 1.0, boundary)
}

/// O'Brien and Fleming's constant, to the four decimals in which it is published; `None` unless
/// there are 1 to 28 looks and `miss` is at most .5.
pub(crate) fn obrien_fleming(n_looks: u32, miss: f64) -> Option<f64> {
    ((1..=28).contains(&n_looks) && miss <= 0.5).then_some(())?;
    let mut constant = normal_quantile(1.0 - miss);
    if n_looks == 1 {
        return Some(constant);
    }
    // The secant method, from the constant of one look on.
    let size = |constant: f64| StoppedMotion::new(n_looks, 1.0, |_| constant).power(0.0) - miss;
    let (mut before, mut of_before) = (constant + 0.2, size(constant + 0.2));
    for _ in 0..8 {
        let of_this = size(constant);
        if of_this == of_before {
            break;
        }
        let next = constant - of_this * (constant - before) / (of_this - of_before);
        (before, of_before, constant) = (constant, of_this, next);
    }
    Some((1e4 * constant).round() / 1e4)
}

/// Sessions of the arm with fewer of them before which an open end does not decide: 100 clicks are
/// expected of them, where `rate` is the higher of the two clicks a session.
pub fn least_sessions(rate: f64) -> f64 {
    LEAST_CLICKS / rate
}

impl AbResult {
    /// Returns whether an open end may not decide yet, whatever the difference.
    pub fn is_early(&self) -> bool {
        let [a, b] = self.arms;
        (a.sessions.min(b.sessions) as f64) < least_sessions(a.clicks_a_session().max(b.clicks_a_session()))
    }
}

impl ArmResult {
    /// Clicks a session; with values the share of the sessions with one.
    pub fn clicks_a_session(&self) -> f64 {
        self.clicks as f64 / self.sessions as f64
    }
}

fn verdict(z: f64, boundary: f64) -> Verdict {
    if z >= boundary {
        Verdict::Second
    } else if z <= -boundary {
        Verdict::First
    } else {
        Verdict::Undecided
    }
}

impl Sums {
    /// Adds a user to each sum, or takes one away.
    fn change(&mut self, user: User, counts: impl Fn(&mut u64, u64), squares: impl Fn(&mut u128, u128)) {
        let (clicks, sessions) = (u128::from(user.clicks), u128::from(user.sessions()));
        counts(&mut self.users, 1);
        counts(&mut self.clicks, user.clicks.into());
        counts(&mut self.sessions, user.sessions().into());
        squares(&mut self.clicks_squared, clicks * clicks);
        squares(&mut self.sessions_squared, sessions * sessions);
        squares(&mut self.clicks_by_sessions, clicks * sessions);
    }

    fn result(self) -> ArmResult {
        let rate = self.clicks as f64 / self.sessions as f64;
        let squares = self.clicks_squared as f64 - 2.0 * rate * self.clicks_by_sessions as f64
            + rate * rate * self.sessions_squared as f64;
        self.arm(rate, squares, self.clicks_squared as f64)
    }

    /// The arm with this rate, squared differences from it, and squares.
    fn arm(self, rate: f64, squares: f64, all: f64) -> ArmResult {
        let (users, sessions) = (self.users as f64, self.sessions as f64);
        let squares = if squares > ROUNDING * all { squares } else { 0.0 };
        let standard_error = (users / (users - 1.0) * squares).sqrt() / sessions;
        let fewest = if squares > 0.0 { 2 } else { FEWEST_ALIKE };
        let standard_error = if self.users >= fewest { standard_error } else { f64::NAN };
        ArmResult { users: self.users, sessions: self.sessions, clicks: self.clicks, rate, standard_error }
    }
}

impl TryFrom<SavedTest> for AbTest {
    type Error = String;

    fn try_from(SavedTest { miss, most_sessions, users, values }: SavedTest) -> Result<Self, String> {
        let mut test = Self::new(miss).map_err(|error| error.to_string())?;
        test.most_sessions = most_sessions;
        for (user, arm, clicks, sessions) in users {
            if sessions == 0 || test.users.contains_key(&user) {
                return Err(format!("user {user} has no session, or is saved twice"));
            }
            test.add(user, arm, clicks, sessions);
        }
        test.values = values.into_iter().collect();
        if test
            .values
            .iter()
            .any(|(user, value)| !(value.is_finite() && *value >= 0.0 && test.users.contains_key(user)))
        {
            return Err("a value below 0, or of no user".to_owned());
        }
        Ok(test)
    }
}

impl From<AbTest> for SavedTest {
    fn from(test: AbTest) -> Self {
        let user = |(user, saved): (&u64, &User)| (*user, saved.arm(), saved.clicks, saved.sessions());
        let mut users: Vec<SavedUser> = test.users.iter().map(user).collect();
        users.sort_unstable_by_key(|user| user.0);
        let mut values: Vec<(u64, f64)> = test.values.into_iter().collect();
        values.sort_unstable_by_key(|of| of.0);
        Self { miss: test.miss, most_sessions: test.most_sessions, users, values }
    }
}
