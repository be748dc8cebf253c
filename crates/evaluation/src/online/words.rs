//! The outcome of a test in words.

use super::{Kind, Look, Metric, Outcome};
use documents::number::{counted, fixed, grouped, significant};
use documents::remark;
use documents::remark::{Code, Remark};
use interleaving::AbResult;
use log_reader::time;
use std::f64::consts::LN_10;

/// A user with a larger share of the clicks is named.
const HEAVY: f64 = 0.01;
/// A larger logarithm of an evidence is printed as a power of ten.
const LARGE: f64 = 4.0 * LN_10;

pub(super) fn percent(share: f64) -> String {
    format!("{} %", fixed(100.0 * share, 1))
}

/// A probability behind its letter.
pub(super) fn chance(p: f64) -> String {
    if p < 1e-300 { "< 1e-300".to_owned() } else { format!("= {}", significant(p, 2)) }
}

impl Look {
    /// The date of the look, as `2026-03-02`.
    pub fn date(&self) -> Option<String> {
        self.day.map(time::date)
    }
}

impl Outcome {
    /// The word for one unit.
    pub fn unit(&self) -> &'static str {
        if self.settings.by_list { "list" } else { "user" }
    }

    /// The word for the metric of an A/B test.
    pub fn metric(&self) -> &'static str {
        if self.is_in_value() { "value" } else { "clicks" }
    }

    /// Whether an A/B test is of the value of clicks.
    pub fn is_in_value(&self) -> bool {
        self.settings.metric == Metric::Value
    }

    /// The estimate of a look, and its interval.
    pub fn figures(&self, look: &Look) -> [String; 2] {
        let digits = |value: f64| match self.settings.kind {
            Kind::Interleaving => percent(value),
            Kind::Ab => fixed(value, 4),
        };
        let interval = look.interval.map(|(low, high)| format!("{} to {}", digits(low), digits(high)));
        let estimate = if look.estimate.is_finite() { digits(look.estimate) } else { "–".to_owned() };
        [estimate, interval.unwrap_or_else(|| "–".to_owned())]
    }

    /// The evidence of a look in words.
    pub fn evidence(&self, look: &Look) -> String {
        match self.settings.kind {
            Kind::Interleaving if look.evidence > LARGE => {
                format!("above 10^{}", fixed((look.evidence / LN_10).floor(), 0))
            }
            Kind::Interleaving => fixed(libm::exp(look.evidence), 2),
            Kind::Ab => format!("{}, {}", fixed(look.evidence, 2), fixed(look.decides, 2)),
        }
    }

    /// The level of the intervals, as `95 %`.
    pub fn level(&self) -> String {
        format!("{} %", (1e8 * (1.0 - self.settings.miss)).round() / 1e6)
    }

    /// The verdict in one sentence: which ranker, how sure, and since when. It is that of the last
    /// interval; if the effect has changed, that is said first.
    pub fn sentence(&self) -> String {
        let ([old, new], last, level) = (&self.names, self.last(), self.level());
        let [estimate, interval] = self.figures(last);
        let found = match self.settings.kind {
            Kind::Interleaving => format!(
                "`{new}` won {} of {} {}s without a tie, {estimate} ({level} interval {interval})",
                grouped(last.users[1]),
                grouped(last.users[0] + last.users[1]),
                self.unit(),
            ),
            Kind::Ab => format!(
                "the {} a session of `{new}` minus {} of `{old}` {} {estimate} ({level} interval {interval}){}, with {} and {} users",
                self.metric(),
                if self.is_in_value() { "that" } else { "those" },
                if self.is_in_value() { "is" } else { "are" },
                self.relative(last),
                grouped(last.users[1]),
                grouped(last.users[0]),
            ),
        };
        let changed = self.changed().map_or_else(String::new, |changed| format!("{}. ", changed.text));
        let verdict = match (&*self.refused, last.better) {
            ([], Ok(better)) => {
                let look = self.decided.map_or(last, |(look, _)| &self.looks[look]);
                let since = look.date().map_or_else(String::new, |date| format!("; decided on {date}"));
                format!(
                    "`{}` is better than `{}`: {found}{since}.",
                    self.names[better],
                    self.names[1 - better]
                )
            }
            ([], Err(reason)) => {
                let why = self.undecided(reason).text + "." + &self.progress();
                format!("Not decided between `{old}` and `{new}`: {found}: {why}")
            }
            (refused, _) => {
                let why: Vec<&str> = refused.iter().map(|why| &*why.text).collect();
                format!("No verdict on `{old}` and `{new}`: {}.", why.join("; "))
            }
        };
        changed + &verdict
    }

    /// The means of both arms, and the difference relative to that of the baseline.
    fn relative(&self, look: &Look) -> String {
        let rates = self.arms.map(|of| of.arms.map(|arm| arm.rate)).filter(|rates| rates[0] > 0.0);
        let Some(([old, new], (low, high))) = rates.zip(look.interval) else { return String::new() };
        let [low, change, high] = [low, look.estimate, high].map(|of| fixed(100.0 * of / old, 1));
        let ends = format!("{low} to {high} %, taking the mean of the baseline as given");
        let sign = if new > old { "+" } else { "" };
        format!(", {} against {}, {sign}{change} % ({ends})", fixed(new, 4), fixed(old, 4))
    }

    /// The part of the planned users that is there, and the days that the others take.
    fn progress(&self) -> String {
        let (last, planned) = (self.last(), self.settings.planned);
        let there = last.users[0].min(last.users[1]);
        let days = last.day.zip(self.looks[0].day).filter(|_| (1..planned).contains(&there));
        let rest = days.map_or_else(String::new, |(last, first)| {
            let rest = (planned - there).saturating_mul((last - first + 1).unsigned_abs()).div_ceil(there);
            format!(", about {} at this rate", counted(rest, "more day"))
        });
        if self.settings.kind != Kind::Ab || self.settings.look.is_some() || !self.settings.is_planned {
            return String::new();
        }
        format!(" The smaller arm has {} of {} planned users{rest}.", grouped(there), grouped(planned))
    }

    fn undecided(&self, reason: Code) -> Remark {
        let expected = self.arms.map_or(0.0, |AbResult { arms: [a, b], .. }| {
            a.sessions.min(b.sessions) as f64 * a.clicks_a_session().max(b.clicks_a_session())
        });
        Remark::new(reason, &[&fixed(expected, 0)])
    }

    /// The looks between which the effect has changed.
    fn changed(&self) -> Option<Remark> {
        let [earlier, later] = <[usize; 2]>::from(self.changed?).map(|place| &self.looks[place]);
        let [before, after] = [earlier, later].map(|look| self.figures(look)[1].clone());
        let [first, second] = [earlier, later].map(|look| look.date().unwrap_or_default());
        Some(remark!("effect-changed", self.level(), second, after, first, before))
    }

    /// Every refusal, reason of "not decided", alarm, warning and note.
    pub fn remarks(&self) -> Vec<Remark> {
        let mut all = self.refused.clone();
        all.extend(self.last().better.err().filter(|_| all.is_empty()).map(|reason| self.undecided(reason)));
        all.extend(self.changed());
        let before = self.looks.iter().find_map(|look| Some((look.date()?, look.better.ok()?)));
        let lost = before.filter(|_| self.decided.is_none());
        all.extend(lost.map(|(date, better)| remark!("decision-lost", date, self.names[better])));
        let of_items = self.rows_of_items.map(|rows| rows.map(grouped));
        all.extend(of_items.map(|[like, rows]| remark!("rows-of-items", like, rows)));
        let stops = &self.stops;
        if stops.is_told() {
            let [further, lists] = [stops.further, stops.lists].map(grouped);
            all.push(remark!("users-stop-at-clicks", further, lists, fixed(stops.expected, 1)));
        } else if self.settings.kind == Kind::Interleaving && self.verdict().is_some() && !stops.may_be_told()
        {
            all.push(remark!("credit-may-have-no-sign"));
        }
        let [first, second] = &self.names;
        let (in_both, [old, new]) = self.arms.map_or((0, [0; 2]), |arms| (arms.n_in_both, arms.n_left_out));
        let most = self.settings.most_sessions.unwrap_or_default();
        let repeated = counted(self.repeated_clicks, "repeated click");
        let share = percent(self.heaviest);
        let heavy =
            if self.is_in_value() { remark!("heavy-value", share) } else { remark!("heavy-user", share) };
        let warnings = [
            (in_both > 0, remark!("some-users-in-both-arms", counted(in_both, "user"))),
            (old + new > 0, remark!("users-left-out", most, grouped(old), first, grouped(new), second)),
            (self.repeated_clicks > 0, remark!("repeated-clicks", repeated)),
            (self.times_back > 0, remark!("unsorted-rows", counted(self.times_back, "row"))),
            (self.heaviest > HEAVY, heavy),
        ];
        all.extend(warnings.into_iter().filter(|(is, _)| *is).map(|(_, warning)| warning));
        all.extend(self.report.skipped.iter().map(|(reason, skipped)| {
            remark!("skipped-rows", reason, counted(skipped.lines, "line"), skipped.first)
        }));
        all
    }

    /// Lines beside the sentence: alarms, warnings and notes, the split, and what was read.
    pub fn notes(&self) -> Vec<String> {
        // The sentence says the others.
        let is_note = |remark: &Remark| {
            matches!(remark.kind, "alarm" | "warning" | "note") && Some(remark) != self.changed().as_ref()
        };
        let mut notes: Vec<String> =
            self.remarks().into_iter().filter(is_note).map(|remark| remark.text).collect();
        if let (Some(result), Some(split)) = (&self.arms, self.split) {
            let [old, new] = result.arms.map(|arm| grouped(arm.users));
            notes.push(format!(
                "Split: {old} and {new} users where {} were planned in `{}`: chi-square p {}.",
                percent(self.settings.split),
                self.names[0],
                chance(split)
            ));
        }
        if self.settings.baseline.is_none() && self.names != ["0", "1"] {
            let name = &self.names[0];
            notes.push(format!("Baseline `{name}` (the first in the alphabet; --baseline NAME chooses)."));
        }
        notes.extend(self.report.ubi.iter().map(|ubi| format!("Read: {ubi}.")));
        if self.heaviest <= HEAVY {
            let (share, metric) = (significant(100.0 * self.heaviest, 1), self.metric());
            notes.push(format!("The user with the most {metric} has {share} % of all {metric}."));
        }
        notes
    }
}
