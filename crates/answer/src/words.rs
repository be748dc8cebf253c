//! The answer in words.

use crate::{Answer, Finding, HORIZON, Interval};
use experiment::number::{counted, fixed, grouped};
use std::fmt;

/// The mean and, in brackets, the interval, with as many decimals as its width gives sense to.
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = decimals(*self);
        let [mean, lower, upper] = [self.mean, self.lower, self.upper].map(|value| fixed(value, decimals));
        write!(f, "{mean} [{lower}, {upper}]")
    }
}

fn decimals(value: Interval) -> usize {
    match value.upper - value.lower {
        width if width >= 20.0 => 0,
        width if width >= 2.0 => 1,
        _ => 2,
    }
}

impl Answer {
    /// The scope of the answer.
    pub fn scope(&self) -> String {
        let share = 100.0 * self.lists as f64 / self.lists_of_log.max(1) as f64;
        let queries = match self.queries.len() as u64 {
            1 => "query".to_owned(),
            n => counted(n, "query"),
        };
        format!(
            "the {queries} with the most lists ({} of {} lists, {} %); in brackets 95 % intervals",
            grouped(self.lists),
            grouped(self.lists_of_log),
            fixed(share, 0),
        )
    }

    /// Reasons to doubt the answer, most important first.
    fn warnings(&self) -> Vec<String> {
        let Finding { today, observed, .. } = &self.all;
        let mut warnings = Vec::new();
        if !today.is_near(*observed) {
            warnings.push(format!(
                "Do not rely on this answer: the fitted users do not behave as the log's. They make {} clicks per 1,000 lists, the log has {}.",
                today,
                fixed(*observed, 0)
            ));
        }
        if self.left_out > 0 {
            let share = 100.0 * self.left_out as f64 / (self.lists + self.left_out) as f64;
            warnings.push(format!(
                "Left out: {} ({} %) of these queries, shorter than the others, or with an item that was not fitted or is shown twice.",
                counted(self.left_out, "list"),
                fixed(share, 1)
            ));
        }
        warnings
    }

    /// The answer, sentence by sentence.
    pub fn sentences(&self) -> Vec<String> {
        let Finding { today, observed, loss, fitted, sure, gained, passed, share_passed, .. } = &self.all;
        let mut sentences = self.warnings();
        let (first, others) =
            self.models.split_first().map_or(("", &[][..]), |(first, others)| (*first, others));
        sentences.push(match others {
            [] => format!("It holds if users are those of the model {first}, which predicts this log best among those that can be simulated."),
            _ => format!(
                "It holds if users are those of the model {first}, which predicts this log best among those that can be simulated. Losses also allow for {}, not told apart from it.",
                others.join(", ")
            ),
        });
        sentences.push(format!(
            "Today's ranking gets {} clicks per 1,000 lists ({} were observed). It loses at most {} against the best lists, which nobody knows; \
             {} on average over what the log leaves open.",
            today,
            fixed(*observed, 0),
            fixed(loss.upper, decimals(*loss)),
            fixed(loss.mean, decimals(*loss)),
        ));
        sentences.push(format!("The best lists by the estimates gain {fitted} clicks per 1,000 lists."));
        let n_sure = self.queries.iter().filter(|query| query.sure_list.is_some()).count() as u64;
        sentences.push(match n_sure {
            0 => "No list was found that is better than today's with a probability of 95 %: this log cannot tell which list is better."
                .to_owned(),
            n => format!(
                "For {} there is a list that is better than today's with a probability of 95 %. Showing them gains {} clicks per 1,000 lists of all queries.",
                counted(n, "query"),
                sure,
            ),
        });
        sentences.push(self.gain(*gained, *passed, *share_passed));
        if n_sure == 0 && !gained.cannot_tell() && gained.mean > 0.0 {
            sentences.push(
                "This gain rests on how much items may differ under the prior of the fit; the log itself does not show that they do.".to_owned(),
            );
        }
        sentences
    }

    /// When the policy passes today's ranking, and what it gains.
    fn gain(&self, gained: Interval, passed: Option<u64>, share_passed: f64) -> String {
        let (policy, all) = (&self.policy, grouped(HORIZON));
        let lists = if self.queries.len() > 1 {
            format!("{all} lists, each query with its share of them")
        } else {
            format!("{all} lists")
        };
        let per_1000 = fixed(1000.0 * gained.mean / HORIZON as f64, 1);
        let runs = fixed(100.0 * share_passed, 0);
        match passed {
            _ if gained.cannot_tell() => format!(
                "This log cannot tell whether {policy} gains anything within {lists}: {gained} clicks ({per_1000} per 1,000 lists)."
            ),
            Some(round) => format!(
                "{policy} has passed today's ranking after {} lists. After {lists}, it has gained {gained} clicks ({per_1000} per 1,000 lists), \
                 and has passed in {runs} % of the runs.",
                grouped(round),
            ),
            None => format!(
                "{policy} does not pass today's ranking within {lists}: its gain is {gained} clicks ({per_1000} per 1,000 lists)."
            ),
        }
    }
}
