//! The outcome of a test in words.

use super::{Kind, Look, Outcome, time};
use documents::number::{counted, fixed, grouped};

/// A user with a larger share of the clicks is named.
const HEAVY: f64 = 0.01;

/// A share in percent.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", fixed(100.0 * share, 1))
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

    /// The verdict in one sentence: which ranker, how sure, and since when.
    pub fn sentence(&self) -> String {
        let ([old, new], last) = (&self.names, self.last());
        let [estimate, interval] = self.figures(last);
        let found = match self.settings.kind {
            Kind::Interleaving => format!(
                "`{new}` won {} of {} {}s without a tie, {estimate} (95 % interval {interval})",
                grouped(last.users[1]),
                grouped(last.users[0] + last.users[1]),
                self.unit(),
            ),
            Kind::Ab => format!(
                "the clicks a session of `{new}` minus those of `{old}` are {estimate} (95 % interval {interval}), with {} \
                 and {} users",
                grouped(last.users[1]),
                grouped(last.users[0]),
            ),
        };
        if !self.refused.is_empty() {
            return format!("No verdict on `{old}` and `{new}`: {}.", self.refused.join("; "));
        }
        match self.decided {
            None => format!("Not decided between `{old}` and `{new}`: {found}."),
            Some((look, better)) => {
                let since =
                    self.looks[look].date().map_or_else(String::new, |date| format!("; decided on {date}"));
                format!(
                    "`{}` is better than `{}`: {found}{since}.",
                    self.names[better],
                    self.names[1 - better]
                )
            }
        }
    }

    /// Sentences that a reader should know beside the verdict.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let (Some(result), Some(split)) = (&self.arms, self.split) {
            let [old, new] = result.arms.map(|arm| grouped(arm.users));
            notes.push(format!(
                "Split: {old} and {new} users where {} were planned in `{}`: chi-square p = {}.",
                percent(self.settings.split),
                self.names[0],
                fixed(split, 4)
            ));
            if result.n_in_both > 0 {
                notes.push(format!("{} in both arms left out.", counted(result.n_in_both, "user")));
            }
            if let Some(most) = self.settings.most_sessions {
                let [old, new] = result.n_left_out.map(grouped);
                notes.push(format!(
                    "Users with more than {most} sessions left out: {old} of `{}`, {new} of `{}`.",
                    self.names[0], self.names[1]
                ));
            }
        }
        notes.extend(self.report.ubi.iter().map(|ubi| format!("Read: {ubi}.")));
        for (reason, skipped) in &self.report.skipped {
            let lines = counted(skipped.lines, "line");
            notes.push(format!("Skipped: {reason}: {lines}, the first at {}.", skipped.first));
        }
        let warning = if self.heaviest > HEAVY { ": it may be a robot" } else { "" };
        notes.push(format!("The user with the most clicks has {} of them{warning}.", percent(self.heaviest)));
        if self.times_back > 0 {
            notes.push(format!(
                "{} earlier than the row above: sorted by day.",
                counted(self.times_back, "row")
            ));
        }
        notes
    }

    pub(super) fn uneven(&self, probability: f64) -> String {
        let users = self.last().users;
        format!(
            "{} users in `{}` and {} in `{}`, where {} were planned in the first: chi-square p = {probability:.1e}",
            grouped(users[0]),
            self.names[0],
            grouped(users[1]),
            self.names[1],
            percent(self.settings.split),
        )
    }
}
