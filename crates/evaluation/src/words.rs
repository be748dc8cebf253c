//! The answer in words.

use crate::evaluation::Evaluation;
use crate::findings::{Basis, Finding};
use crate::jackknife::Estimate;
use crate::level::Level;
use documents::number::{counted, fixed, grouped};

/// The assumptions of every number.
pub const ALWAYS_ASSUMED: &str = "a click depends on the ranker only through the list, one list does not change the users of \
                                  another, and the same users search later";
/// A user with more of the lists, and queries without a new list with more of them, warn.
const LARGE_SHARE: f64 = 0.01;
/// Numbers are for this many lists.
const LISTS: f64 = 1000.0;

impl Evaluation {
    /// The answer in one sentence: how much, how sure, on what assumption.
    pub fn sentence(&self) -> String {
        let what = if self.is_learned() { "lists learned from this log" } else { "the new ranking" };
        if let Some(levels) = self.levels.as_ref().filter(|levels| levels.are_as_shown()) {
            return self.as_shown(&levels.today);
        }
        let Some(answer) = self.findings.answer() else {
            return format!("This log has no answer to what {what} would have earned: {}.", self.why_none());
        };
        let difference = answer.difference.as_ref().map_or(0.0, |difference| LISTS * difference.value);
        let (low, high) = answer.interval.map_or((0.0, 0.0), |(low, high)| (LISTS * low, LISTS * high));
        let condition = self.condition(answer);
        let unit = self.unit();
        if low <= 0.0 && high >= 0.0 {
            let [low, estimate, high] = [low, difference, high].map(signed);
            let range = format!("{estimate} {unit} per 1,000 lists, between {low} and {high} (95 %)");
            return format!(
                "This log cannot tell whether {what} would have earned more than what was shown: {range}, {condition}."
            );
        }
        let what = if self.is_learned() { "Lists learned from this log" } else { "The new ranking" };
        let more = if difference >= 0.0 { "more" } else { "fewer" };
        let (low, high) = if difference >= 0.0 { (low, high) } else { (-high, -low) };
        let [value, low, high] = [difference.abs(), low, high].map(|number| digits(number, high - low));
        format!(
            "{what} would have earned {value} {unit} {more} per 1,000 lists than what was shown (95 % interval {low} to {high}), \
             {condition}."
        )
    }

    /// The answer for a ranking that shows what was shown, which earns `today`.
    fn as_shown(&self, today: &Estimate) -> String {
        let unit = self.unit();
        let earned = |number: f64, width: f64| digits(LISTS * number, LISTS * width);
        let interval = today.interval();
        let width = interval.map_or(1.0, |(low, high)| high - low);
        let sure = interval.map_or_else(
            || "nothing tells how sure that is".to_owned(),
            |(low, high)| format!("95 % interval {} to {}", earned(low, width), earned(high, width)),
        );
        format!(
            "The new ranking shows the same lists as the log, so the difference is 0 by definition: it earns what they earned, \
             {} {unit} per 1,000 lists ({sure}).",
            earned(today.value, width),
        )
    }

    /// The unit of the numbers.
    pub fn unit(&self) -> &'static str {
        if self.values.iter().all(|value| *value == 1.0) { "clicks" } else { "of the value of clicks" }
    }

    fn condition(&self, answer: &Finding) -> String {
        let assumption = answer.basis.assumption();
        let more = match answer.basis {
            Basis::Level(level) => {
                let lists = fixed(answer.effective_lists.unwrap_or(0.0), 0);
                let untested = self.models.is_err() && level == Level::Position;
                let untested = if untested { ", which this log cannot test" } else { "" };
                format!(" (`{}`, as certain as {lists} lists with equal weights){untested}", level.name())
            }
            Basis::Model(_) if answer.share < 0.9995 => format!(
                "; for the {} % of the lists whose new lists have only items that the log shows for their query",
                fixed(100.0 * answer.share, 0)
            ),
            Basis::Model(_) => String::new(),
        };
        format!("if {assumption}{more}")
    }

    /// The difference of a finding from what was shown, its interval and its effective lists, for
    /// readers, per 1,000 lists.
    pub fn figures(&self, finding: &Finding) -> [String; 3] {
        let width = finding.interval.map_or(20.0, |(low, high)| LISTS * (high - low));
        let number = |number: f64| digits(LISTS * number, width);
        let unknown = || "–".to_owned();
        [
            finding.difference.as_ref().map_or_else(unknown, |difference| number(difference.value)),
            finding
                .interval
                .map_or_else(unknown, |(low, high)| format!("{} to {}", number(low), number(high))),
            finding.effective_lists.map_or_else(unknown, |lists| fixed(lists, 0)),
        ]
    }

    /// Whether a finding answers, or why it does not, and what casts doubt on it.
    pub fn state(&self, finding: &Finding) -> String {
        let is_answer = self.findings.answer().is_some_and(|answer| answer.basis == finding.basis);
        let answers = is_answer.then(|| "used for the answer".to_owned());
        let remarks = answers.iter().chain(&finding.refused).chain(&finding.warnings);
        let state = remarks.cloned().collect::<Vec<_>>().join("; ");
        if state.is_empty() { "for comparison".to_owned() } else { state }
    }

    fn why_none(&self) -> String {
        let reason = |finding: &Finding| {
            let why = finding.refused.clone().unwrap_or_else(|| finding.warnings.join("; "));
            format!("`{}`: {why}", finding.basis.name())
        };
        let mut reasons: Vec<String> = Vec::new();
        for finding in &self.findings.all {
            let why = reason(finding);
            // Levels and models often have one reason.
            let (_, of_last) = reasons.last().and_then(|last| last.split_once(": ")).unwrap_or_default();
            if why.split_once(": ").is_some_and(|(_, why)| why == of_last) {
                let last = reasons.len() - 1;
                reasons[last] = format!("`{}`, {}", finding.basis.name(), reasons[last]);
            } else {
                reasons.push(why);
            }
        }
        if let (Err(why), false) = (&self.models, self.is_learned()) {
            reasons.push(why.clone());
        }
        reasons.join("; ")
    }

    /// Doubts about all numbers, and what was left out.
    pub fn warnings(&self) -> Vec<String> {
        let Some(levels) = &self.levels else { return Vec::new() };
        let (lists, about) = (levels.lists, &levels.about);
        let share =
            |number: u64, of: u64| format!("{} %", fixed(100.0 * number as f64 / of.max(1) as f64, 1));
        let mut warnings = Vec::new();
        let all = lists + about.without_new_list;
        if about.without_new_list as f64 > LARGE_SHARE * all as f64 {
            warnings.push(format!(
                "{} of {}, {}, are of queries without a new list: they are left out on both sides.",
                grouped(about.without_new_list),
                counted(all, "list"),
                share(about.without_new_list, all),
            ));
        }
        for (number, what) in [(about.longer, "longer"), (about.shorter, "shorter")] {
            if number > 0 {
                warnings.push(format!(
                    "{} {what} than the new ones: both are compared down to the end of the shorter.",
                    counted(number, "list")
                ));
            }
        }
        if about.users < lists && about.most_of_a_user as f64 > LARGE_SHARE * lists as f64 {
            warnings.push(format!(
                "One user has {} of {}, {}: the intervals may be too narrow.",
                grouped(about.most_of_a_user),
                counted(lists, "list"),
                share(about.most_of_a_user, lists),
            ));
        }
        warnings
    }
}

/// A number beside an interval of this width.
fn digits(number: f64, width: f64) -> String {
    let decimals = if width >= 20.0 {
        0
    } else if width >= 2.0 {
        1
    } else if width >= 0.2 {
        2
    } else {
        3
    };
    fixed(number, decimals)
}

fn signed(number: f64) -> String {
    let digits = digits(number.abs(), number.abs().max(1.0));
    if number < 0.0 { format!("{digits} fewer") } else { format!("{digits} more") }
}
