//! The answer in words.

use crate::evaluation::Evaluation;
use crate::findings::{Basis, Finding};
use crate::jackknife::Estimate;
use crate::level::Level;
use crate::levels::Levels;
use documents::number::{counted, fixed, grouped};
use documents::remark;
use documents::remark::{Remark, code};

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
            return format!(
                "This log has no answer to what {what} would have earned: {}.{}",
                self.why_none(),
                self.way_out()
            );
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
        let is_one = !self.has_values && self.values.iter().all(|value| *value == 1.0);
        if is_one { "clicks" } else { "units of value" }
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
        let remarks = finding.refused.iter().chain(&finding.warnings).map(|remark| remark.text.clone());
        let state = answers.into_iter().chain(remarks).collect::<Vec<_>>().join("; ");
        if state.is_empty() { "for comparison".to_owned() } else { state }
    }

    fn why_none(&self) -> String {
        let mut reasons = self.reasons(|_| true);
        if let Err(why) = &self.models
            && (reasons.is_empty() || !self.is_learned())
        {
            reasons.push(why.text.clone());
        }
        reasons.join("; ")
    }

    /// The levels and models that `are` among those asked for, with the reason why they do not
    /// answer; neighbours often have one reason.
    pub fn reasons(&self, are: impl Fn(&Finding) -> bool) -> Vec<String> {
        let reason = |finding: &Finding| {
            let all = finding.refused.as_ref().map_or(&*finding.warnings, std::slice::from_ref);
            let why: Vec<&str> = all.iter().map(|remark| &*remark.text).collect();
            format!("`{}`: {}", finding.basis.name(), why.join("; "))
        };
        let mut reasons: Vec<String> = Vec::new();
        for finding in self.findings.all.iter().filter(|finding| are(finding)) {
            let why = reason(finding);
            let (_, of_last) = reasons.last().and_then(|last| last.split_once(": ")).unwrap_or_default();
            if why.split_once(": ").is_some_and(|(_, why)| why == of_last) {
                let last = reasons.len() - 1;
                reasons[last] = format!("`{}`, {}", finding.basis.name(), reasons[last]);
            } else {
                reasons.push(why);
            }
        }
        reasons
    }

    /// The way to an answer if an assumption fails.
    fn way_out(&self) -> &'static str {
        let fails = |finding: &Finding| {
            let refused = finding.refused.as_ref();
            refused.is_some_and(|refused| refused.code == const { code("assumption-fails") })
        };
        if !self.findings.all.iter().any(fails) {
            return "";
        }
        " Weights of whole lists (`list`) assume none of this: they answer if the log has the \
         probability of each list (`list-propensity`) and shows the new lists often enough, as a logger does that shows the new ranking \
         with two neighbours swapped at random in some lists."
    }

    /// Doubts about all numbers, and what was left out.
    pub fn warnings(&self) -> Vec<String> {
        self.doubts().into_iter().map(|doubt| doubt.text).collect()
    }

    /// Every refusal, reason of "not decided" and warning.
    pub fn remarks(&self) -> Vec<Remark> {
        let holds_zero = |&(low, high): &(f64, f64)| low <= 0.0 && high >= 0.0;
        let reason = match self.findings.answer() {
            None if self.levels.as_ref().is_some_and(Levels::are_as_shown) => Some(remark!("as-shown")),
            None => Some(remark!("no-answer")),
            Some(answer) => answer
                .interval
                .as_ref()
                .filter(|ends| holds_zero(ends))
                .map(|_| remark!("interval-holds-zero")),
        };
        let of_finding =
            |finding: &Finding| finding.refused.iter().chain(&finding.warnings).cloned().collect::<Vec<_>>();
        let of_findings = self.findings.all.iter().flat_map(of_finding);
        let without_models = self.models.as_ref().err().cloned();
        reason.into_iter().chain(self.doubts()).chain(of_findings).chain(without_models).collect()
    }

    fn doubts(&self) -> Vec<Remark> {
        let Some(Levels { lists, about, never_shown, .. }) = &self.levels else { return Vec::new() };
        let share =
            |number: u64, of: u64| format!("{} %", fixed(100.0 * number as f64 / of.max(1) as f64, 1));
        let is_large = |number: u64, of: u64| number as f64 > LARGE_SHARE * of as f64;
        let (all, without, of_user) =
            (lists + about.without_new_list, about.without_new_list, about.most_of_a_user);
        let of_all = [grouped(without), counted(all, "list"), share(without, all)];
        let of_lists = [grouped(of_user), counted(*lists, "list"), share(of_user, *lists)];
        let unseen = never_shown.as_ref().map_or_else(String::new, |never| never.items.join("; "));
        let doubts = [
            (is_large(without, all), remark!("without-new-list", of_all[0], of_all[1], of_all[2])),
            (!unseen.is_empty(), remark!("items-never-shown", unseen)),
            (about.longer > 0, remark!("longer-lists", counted(about.longer, "list"))),
            (about.shorter > 0, remark!("shorter-lists", counted(about.shorter, "list"))),
            (
                about.users < *lists && is_large(of_user, *lists),
                remark!("heavy-user-of-lists", of_lists[0], of_lists[1], of_lists[2]),
            ),
        ];
        doubts.into_iter().filter(|(is, _)| *is).map(|(_, doubt)| doubt).collect()
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
