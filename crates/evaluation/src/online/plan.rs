//! How many users a test takes.

use super::{Kind, Outcome};
use interleaving::ArmResult;
use interleaving::plan::{End, decisive_users, inflation, least_users, users_per_arm};
use serde_json::{Value, json};

/// The settings of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanSettings {
    /// The kind of the test.
    pub kind: Kind,
    /// The effect to find. For an A/B test the change of the mean relative to it; for an
    /// interleaved comparison the share of users that the better ranker wins, of those without a
    /// tie, minus 1/2.
    pub effect: f64,
    /// The probability of finding it.
    pub power: f64,
    /// The probability of a false alarm, above 0 and at most .5.
    pub miss: f64,
    /// The number of looks of a fixed end.
    pub looks: u32,
    /// All users of a day, if they are known.
    pub per_day: Option<f64>,
    /// Clicks a session, and a user's standard deviation of them. For an A/B test only.
    pub clicks: Option<(f64, f64)>,
    /// Sessions a user, of a log; 1 if they are not known.
    pub sessions: f64,
    /// The share of users that are ties, for an interleaved comparison.
    pub ties: f64,
    /// The share of users that the better ranker would win if it were interleaved, of those without
    /// a tie.
    pub share: Option<f64>,
}

/// Users for one effect: in each arm of an A/B test, and without a tie of an interleaved
/// comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanRow {
    /// The effect, as in the settings.
    pub effect: f64,
    /// With one look, at the end.
    pub fixed: u64,
    /// With several looks; an interleaved comparison has no plan for them.
    pub looks: Option<u64>,
    /// With a look at any time.
    pub open: u64,
}

/// The users for half the effect, the effect and twice the effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Its settings.
    pub settings: PlanSettings,
    /// Three rows.
    pub rows: Vec<PlanRow>,
}

impl PlanSettings {
    /// The same settings with the numbers of a log of this kind.
    #[must_use]
    pub fn from_log(self, log: &Outcome) -> Self {
        let last = log.last();
        let all = (last.users[0] + last.users[1] + last.ties) as f64;
        let sum =
            |of: fn(&ArmResult) -> u64| log.arms.map(|arms| arms.arms.iter().map(of).sum::<u64>() as f64);
        let sessions =
            sum(|arm| arm.sessions).zip(sum(|arm| arm.users)).map(|(sessions, users)| sessions / users);
        Self {
            clicks: log.clicks_of_a_session(),
            sessions: sessions.unwrap_or(1.0),
            ties: last.ties as f64 / all,
            ..self
        }
    }
}

impl Plan {
    /// Plans a test.
    ///
    /// # Errors
    ///
    /// A message for numbers that are no plan.
    pub fn new(settings: PlanSettings) -> Result<Self, String> {
        let PlanSettings { kind, effect, power, miss, looks, clicks, ties, share, .. } = settings;
        if !(0.5..=0.999).contains(&power) {
            return Err(format!("the power is {power}: expected a number from 0.5 to 0.999"));
        }
        if !(miss > 0.0 && miss <= 0.5) {
            return Err(format!(
                "the probability of a false alarm is {miss}: expected a number above 0, at most 0.5"
            ));
        }
        let of_looks = inflation(power, miss, End::Fixed(looks))
            .ok_or_else(|| format!("{looks} looks: expected 1 to 28"))?;
        let of_open = if kind == Kind::Ab { inflation(power, miss, End::Open).unwrap_or(1.0) } else { 1.0 };
        if !(0.0..1.0).contains(&ties) {
            return Err(format!("the share of ties is {ties}: expected a number below 1"));
        }
        if share.is_some_and(|share| !(share > 0.5 && share < 1.0)) {
            return Err("the share that the better ranker wins is above 0.5 and below 1".to_owned());
        }
        if settings.per_day.is_some_and(|users| !(users >= 1.0 && users.is_finite())) {
            return Err("users a day: expected at least 1".to_owned());
        }
        let row = |effect: f64| match (kind, clicks) {
            (Kind::Ab, None) => None,
            (Kind::Ab, Some((mean, deviation))) => {
                let users = |factor| users_per_arm(deviation, effect * mean, power, miss, factor);
                let is_valid = mean > 0.0 && deviation > 0.0;
                Some(PlanRow {
                    effect,
                    fixed: users(1.0).filter(|_| is_valid)?,
                    looks: users(of_looks),
                    // An open end does not decide before.
                    open: users(of_open)?.max(least_users(mean * settings.sessions)?),
                })
            }
            (Kind::Interleaving, _) => Some(PlanRow {
                effect,
                fixed: decisive_users(0.5 + effect, power, miss, End::Fixed(1))?,
                looks: None,
                open: decisive_users(0.5 + effect, power, miss, End::Open)?,
            }),
        };
        let rows: Vec<PlanRow> =
            [0.5, 1.0, 2.0].into_iter().filter_map(|factor| row(factor * effect)).collect();
        let (is_small, most) = if kind == Kind::Ab {
            (effect <= 1.0, "at most 1, 0.05 for 5 %")
        } else {
            (effect < 0.5, "below 0.5")
        };
        if is_small && rows.iter().any(|row| row.effect == effect) {
            return Ok(Self { settings, rows });
        }
        Err(match (kind, clicks) {
            _ if !(effect > 0.0 && is_small) => {
                format!("the effect is {effect}: expected a number above 0 and {most}")
            }
            (Kind::Ab, None) => "clicks a session are missing: give a log, or --mean and --sd".to_owned(),
            (Kind::Ab, Some((mean, deviation))) if !(mean > 0.0 && deviation > 0.0) => format!(
                "a mean of {mean} clicks a session with standard deviation {deviation}: expected numbers above 0"
            ),
            _ => format!("an effect of {effect} takes more than 10^15 users: expected a larger one"),
        })
    }

    /// All users of a test that needs this number.
    pub fn all_users(&self, needed: u64) -> f64 {
        match self.settings.kind {
            Kind::Ab => 2.0 * needed as f64,
            Kind::Interleaving => (needed as f64 / (1.0 - self.settings.ties)).ceil(),
        }
    }

    /// Days until there are enough users.
    pub fn days(&self, needed: u64) -> Option<f64> {
        self.settings.per_day.map(|of_day| (self.all_users(needed) / of_day).ceil())
    }

    /// Users without a tie if the rankers were interleaved, with a look at any time, and how many
    /// times as many an A/B test with one takes.
    pub fn interleaved(&self) -> Option<(u64, f64)> {
        let share = self.settings.share.filter(|_| self.settings.kind == Kind::Ab)?;
        let users = decisive_users(share, self.settings.power, self.settings.miss, End::Open)?;
        let row = self.rows.iter().find(|row| row.effect == self.settings.effect)?;
        Some((users, self.all_users(row.open) / users as f64))
    }

    /// All numbers. Unknown ones are null.
    pub fn to_json(&self) -> Value {
        let PlanSettings { kind, power, miss, looks, per_day, clicks, ties, share, .. } = self.settings;
        let rows = self.rows.iter().map(|row| {
            json!({
                "effect": row.effect,
                "fixed": row.fixed,
                "looks": row.looks,
                "open": row.open,
                "days": per_day.map(|_| json!({
                    "fixed": self.days(row.fixed),
                    "looks": row.looks.and_then(|users| self.days(users)),
                    "open": self.days(row.open),
                })),
            })
        });
        json!({
            "schema": 1,
            "kind": if kind == Kind::Ab { "ab" } else { "interleaving" },
            "users": if kind == Kind::Ab { "in each arm" } else { "without a tie" },
            "power": power,
            "alpha": miss,
            "n_looks": looks,
            "per_day": per_day,
            "mean": clicks.map(|(mean, _)| mean),
            "sd": clicks.map(|(_, deviation)| deviation),
            "ties": ties,
            "rows": rows.collect::<Vec<_>>(),
            "interleaved": self.interleaved().map(|(users, times)| json!({ "share": share, "users": users, "times_fewer": times })),
        })
    }
}
