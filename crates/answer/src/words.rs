//! The answer in words.

use crate::{Answer, Finding, HORIZON, Interval, PassingTime, PolicyGain, TransferSlope};
use click_logs::fit::Verdict;
use documents::number::{counted, fixed, grouped, significant};
use documents::remark::{Remark, code};
use std::collections::BTreeSet;
use std::fmt;

/// The mean and, in brackets, the interval, with as many decimals as its width gives sense to. An
/// interval whose ends look the same is none.
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = decimals(*self);
        let [mean, lower, upper] = [self.mean, self.lower, self.upper].map(|value| fixed(value, decimals));
        if lower == upper { f.write_str(&mean) } else { write!(f, "{mean} [{lower}, {upper}]") }
    }
}

fn decimals(value: Interval) -> usize {
    match value.upper - value.lower {
        width if width >= 20.0 => 0,
        width if width >= 2.0 => 1,
        _ => 2,
    }
}

/// The number of lists in the middle run, and the interval; one limit if it is the same.
impl fmt::Display for PassingTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = |limit: Option<u64>| limit.map_or_else(|| format!("over {}", grouped(HORIZON)), grouped);
        write!(f, "{} [{}, {}]", limit(self.median), limit(self.lower), limit(self.upper))
    }
}

impl TransferSlope {
    /// Whether and how far the log supports the differences between lists that the model predicts.
    fn sentence(&self, answer: &Answer) -> String {
        let Self { model, slope, verdict, needed, queries, lists, sessions } = self;
        let part = slope.map_or_else(String::new, |slope| {
            let [sessions, lists] = [(sessions, "session"), (lists, "list")].map(|(n, one)| counted(*n, one));
            let from = format!("{sessions} of {lists} in {}", answer.counted(*queries));
            format!("On lists that a fit has not seen, {slope} of the differences that {model} predicts happen ({from}).")
        });
        match verdict {
            // With an alarm the answer takes no part of them.
            Verdict::Supported if answer.is_alarmed() => part,
            Verdict::Supported => {
                format!("{part} The log supports the differences; the answer takes this part of them.")
            }
            Verdict::Exceeded => format!("{part} That is surely more than {model} predicts."),
            Verdict::Contradicted => format!(
                "{part} The log contradicts the differences that {model} predicts: no list is recommended, and no gain promised."
            ),
            Verdict::CannotTest => {
                let would = needed.map_or_else(
                    || "Several lists for each query would, each with some sessions.".to_owned(),
                    |times| {
                        let needed = |n: &u64| rounded((times * *n as f64).max(1.0));
                        let [sessions, lists, queries] = [sessions, lists, queries].map(needed);
                        format!("About {sessions} sessions of {lists} lists in {queries} queries would.")
                    },
                );
                let start = if part.is_empty() { String::new() } else { format!("{part} ") };
                format!(
                    "{start}This log cannot test whether differences between lists happen as {model} predicts. {would}"
                )
            }
        }
    }
}

/// A number with two digits that count.
fn rounded(number: f64) -> String {
    let mut unit = 1.0;
    while number / unit >= 100.0 {
        unit *= 10.0;
    }
    fixed((number / unit).ceil() * unit, 0)
}

impl Answer {
    /// The number of queries, of a log with strata those within them.
    fn counted(&self, queries: u64) -> String {
        if !self.are_strata {
            return counted(queries, "query");
        }
        format!("{} query-strat{}", grouped(queries), if queries == 1 { "um" } else { "a" })
    }

    /// Every refusal, reason of "not decided" and warning of the sentences.
    pub(crate) fn remarked(&self) -> Vec<Remark> {
        let promises = self.promises();
        let untold = self.played.is_some_and(|played| played.gained.cannot_tell());
        let not_passed = self.played.is_some_and(|played| played.passed.median.is_none());
        [
            (!self.is_reliable(), const { code("fit-off") }),
            (self.verdict() == Verdict::Contradicted, const { code("transfer-contradicted") }),
            (self.verdict() == Verdict::CannotTest, const { code("transfer-untested") }),
            (self.is_alarmed(), const { code("lists-not-alone") }),
            (self.is_untested(), const { code("lists-alone-untested") }),
            (
                promises && self.kept_apart == 0 && self.recommended().next().is_none(),
                const { code("no-better-list") },
            ),
            (self.recommended().any(|(_, list)| list.is_guess), const { code("guesses") }),
            (self.recommended().any(|(_, list)| !list.gone.is_empty()), const { code("items-gone") }),
            (self.kept_apart > 0, const { code("items-kept-apart") }),
            (promises && untold, const { code("gain-untold") }),
            (promises && !untold && not_passed, const { code("not-passed") }),
            (self.left_out > 0, const { code("left-out") }),
        ]
        .into_iter()
        .filter(|(is, _)| *is)
        .map(|(_, code)| Remark::new(code, &[]))
        .collect()
    }

    /// The scope of the answer.
    pub fn scope(&self) -> String {
        let n = self.queries.len() as u64;
        let queries = match (n, self.queries_of_log) {
            (1, 1) => "the query of the log".to_owned(),
            (n, all) if n == all => format!("all {} of the log", self.counted(n)),
            (n, all) => format!(
                "the {} of the log, by a sample of {} drawn in proportion to their lists",
                self.counted(all),
                grouped(n)
            ),
        };
        format!(
            "{queries} ({} of {} lists); in brackets 95 % intervals, where drawn users differ",
            grouped(self.lists),
            grouped(self.lists_of_log),
        )
    }

    /// The answer, sentence by sentence.
    pub fn sentences(&self) -> Vec<String> {
        let Finding { today, observed, loss, .. } = &self.all;
        if !self.is_reliable() {
            return vec![format!(
                "Do not rely on the fit: its users make {} clicks per 1,000 of today's lists, and the log has {}. So there is no answer.",
                fixed(self.fitted_clicks, 0),
                fixed(*observed, 0)
            )];
        }
        let lost = if self.is_alarmed() {
            String::new()
        } else {
            format!(" The best possible lists, which nobody knows, would get {loss} more.")
        };
        let mut sentences = vec![format!(
            "Today's ranking gets {today} clicks per 1,000 lists ({} were observed{}).{lost}",
            fixed(*observed, 0),
            if self.today.share < 1.0 { " in the whole log" } else { "" }
        )];
        sentences.push(self.today.sentence());
        if let Some((first, others)) = self.models.split_first() {
            let others: Vec<&str> = others.iter().map(|other| other.model).collect();
            let also = match others.as_slice() {
                [] => String::new(),
                others => format!(" or of {}, which the log does not tell apart", others.join(" or ")),
            };
            sentences.push(format!(
                "This holds if users are those of the model {}{also}. {}",
                first.model,
                first.sentence(self)
            ));
        }
        sentences.extend(self.alarm());
        if self.promises() {
            sentences.push(self.recommendation());
            let gone: BTreeSet<&str> =
                self.recommended().flat_map(|(_, list)| &list.gone).map(String::as_str).collect();
            if let Some(first) = gone.first() {
                let (items, are) =
                    (counted(gone.len() as u64, "item"), if gone.len() == 1 { "is" } else { "are" });
                sentences.push(format!(
                    "At the end of the log, {items} of the recommended lists {are} no longer shown (such as {first}): such lists are \
                     guesses, and of no use if the item has left. A log from then on tells what is best without."
                ));
            }
            if self.kept_apart > 0 {
                sentences.push(format!(
                    "Not recommended, though better by the model: {} with items that today's lists keep apart, as rankings for \
                     different users do. If a ranker or an editor chose who sees which list, name it as the stratum \
                     (`--columns ..,stratum=COLUMN`). If lists were shown at random or have propensities, `evaluate --ranking learned` \
                     decides; otherwise a test with real users does.",
                    counted(self.kept_apart, "list")
                ));
            }
            if let Some(played) = &self.played {
                sentences.push(self.played(played));
            }
        }
        if self.left_out > 0 {
            sentences.push(format!(
                "Left out: {}, shorter than others of their query, or with an item that was not fitted or is shown twice.",
                counted(self.left_out, "list"),
            ));
        }
        sentences
    }

    /// The signs that more than the list decides the clicks, and the way out; or that the log
    /// cannot test it.
    fn alarm(&self) -> Option<String> {
        let denied = self.lists_alone.as_ref().filter(|test| test.is_denied());
        let seen = denied.map_or_else(String::new, |test| {
            format!(
                "Clicks at the first two places depend on what stands below, where users have not looked yet (p = {}). ",
                significant(test.p, 1)
            )
        });
        if !self.is_alarmed() {
            let doubt = match &*self.doubts() {
                [] => "cannot be tested: too few sessions with clicks have lists that begin alike and go on differently".to_owned(),
                signs => format!("is in doubt: {}", signs.join(", and ")),
            };
            return self.is_in_doubt().then(|| {
                format!(
                    "Whether lists alone decide the clicks {doubt}. If today's ranking depends on the user, one list for all may \
                     earn less."
                )
            });
        }
        Some(format!(
            "{seen}Not the list alone decides the clicks, but also who sees it and when, or what stands beside an item; this log \
                 cannot tell which. If today's ranking depends on the user or the hour, one list for all may earn less than today's. So no gain is promised, \
                 no list is recommended for all, and no policy is played. The way out: name a column that says who asks, such as \
                 the kind of device (`--columns ..,stratum=device`), or when, such as the part of the week, or `fit --context`."
        ))
    }

    /// The gain of the recommended lists, and how far they lie outside of what the log shows.
    fn recommendation(&self) -> String {
        let n_guesses = self.recommended().filter(|(_, list)| list.is_far()).count() as u64;
        let n = self.recommended().count() as u64;
        if n == 0 && self.kept_apart > 0 {
            return "No list is recommended.".to_owned();
        }
        if n == 0 {
            return "No list was found that is better than today's for most users that the log leaves possible, and worse for \
                    hardly any: it cannot tell which list is better."
                .to_owned();
        }
        let [them, all, are, stay] = match n {
            1 => ["it", "It", "It is a guess", "It stays"],
            _ => ["them", "All of them", "All of them are guesses", "All of them stay"],
        };
        let gain = format!(
            "For {} a better list is recommended. Showing {them} gains {} clicks per 1,000 lists of all queries.",
            self.counted(n),
            self.all.gain,
        );
        let (s, guess) = if n_guesses == 1 { ("s", "a guess") } else { ("", "guesses") };
        match n_guesses {
            _ if self.is_in_doubt() => format!("{gain} {are}, to be tested first."),
            0 => format!("{gain} {stay} near what the log shows."),
            guesses => {
                let of = if guesses == n { all.to_owned() } else { format!("{} of them", grouped(guesses)) };
                format!("{gain} {of} lie{s} far beyond what the log shows: {guess} to be tested first.")
            }
        }
    }

    /// When the policy passes today's ranking, and what it gains.
    fn played(&self, PolicyGain { gained, passed, share_passed }: &PolicyGain) -> String {
        let n_played = self.queries.iter().filter(|query| query.played.is_some()).count() as u64;
        let (policy, all) = (&self.policy, grouped(HORIZON));
        let lists = match n_played {
            1 => format!("{all} lists"),
            n => format!("{all} lists, which the {} with the most lists share", self.counted(n)),
        };
        let per_1000 = fixed(1000.0 * gained.mean / HORIZON as f64, 1);
        if gained.cannot_tell() {
            return format!(
                "This log cannot tell whether {policy} gains anything within {lists}: {gained} clicks ({per_1000} per 1,000 lists)."
            );
        }
        if passed.median.is_none() {
            return format!(
                "{policy} does not pass today's ranking within {lists}: its gain is {gained} clicks ({per_1000} per 1,000 lists)."
            );
        }
        let cautious = " (the end of the interval is cautious: it counts only what recommended lists gain)";
        let cautious = if passed.upper.is_none() { cautious } else { "" };
        format!(
            "{policy} has passed today's ranking after {passed} lists, and within {all} in {} % of the runs{cautious}. After {lists}, it has gained {gained} clicks ({per_1000} per 1,000 lists).",
            fixed(100.0 * share_passed, 0),
        )
    }
}
