//! A leaderboard in sentences. There are few of them, however many policies there are.

use super::{Leaderboard, Pair, Place, estimate};
use documents::number::{self, counted};
use experiment::result::{EndValue, Quantity};
use itertools::Itertools as _;
use num_traits::ToPrimitive as _;
use std::fmt;

/// The number of policies that a sentence names.
const NAMED: usize = 3;

impl fmt::Display for Leaderboard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sentences().iter().try_for_each(|sentence| writeln!(formatter, "{sentence}"))
    }
}

impl Leaderboard {
    /// The leaderboard in a few paragraphs. Empty without policies.
    pub fn sentences(&self) -> Vec<String> {
        let competing: Vec<&Place> = self.competing().collect();
        let compared = if let [leader, next, ..] = competing[..] {
            let pair = self.pair(&leader.label, &next.label);
            let lead = pair.map(|pair| self.lead(leader, next, pair));
            let users = pair.and_then(of_users);
            [lead, users, self.doubts(leader, &competing), self.further_ties(&competing)]
        } else {
            let oracle = || self.places.iter().find(|place| place.is_oracle);
            let only = competing.first().copied().or_else(oracle);
            let doubts = only.and_then(|place| self.doubts(place, &[place]));
            [only.map(|place| self.only(place)), doubts, None, None]
        };
        let earned = self.places.iter().filter(|place| !place.is_oracle).filter_map(earned);
        let exposed = self.places.iter().filter_map(|place| self.exposed(place));
        compared.into_iter().flatten().chain(exposed).chain(earned).collect()
    }

    /// A policy that breaks its guarantee.
    fn exposed(&self, place: &Place) -> Option<String> {
        let delta = place.wrong_beyond?;
        Some(format!(
            "{} {}: it is wrong more often than its delta, {delta}, allows (by chance in less than 1 of {} experiments), so it is not \
             compared.",
            place.label,
            self.in_words(place),
            self.chance()
        ))
    }

    /// How many experiments there are for one that errs by chance.
    fn chance(&self) -> String {
        libm::round(1.0 / self.level).to_u64().map_or_else(String::new, number::grouped)
    }

    /// One policy, which nothing is compared with.
    fn only(&self, place: &Place) -> String {
        let compared =
            if place.is_oracle { "It knows the users." } else { "No other policy to compare it with." };
        format!("{}: {}. {compared}", place.label, self.in_words(place))
    }

    /// The policy with the lowest mean, compared with the next.
    fn lead(&self, leader: &Place, next: &Place, pair: &Pair) -> String {
        if leader.stopped == Some(0.0) {
            let rounds = counted(self.rounds.unwrap_or(0), "round");
            return format!("No policy stopped within {rounds}, so their stopping times are not known.");
        }
        let of_runs = match self.value {
            _ if self.places.iter().any(|place| place.wrong_beyond.is_some()) => {
                "Fastest of those that keep to their delta"
            }
            EndValue::Answer(Quantity::StoppingTime) => "Fastest",
            _ => "Best",
        };
        let (label, other) = (&leader.label, &next.label);
        let head = match learns_nothing(leader) {
            Some(caveat) if pair.told_apart => {
                format!("No policy is ahead of {label}, {caveat}. {of_runs}")
            }
            _ if pair.told_apart => of_runs.to_owned(),
            _ => format!("{of_runs} on average"),
        };
        let than = match 100.0 * pair.difference / next.mean {
            _ if pair.difference == 0.0 && pair.se == Some(0.0) => format!("equal to {other} in every run"),
            share => {
                let share = match share {
                    share if self.unit.is_empty() || !share.is_finite() || share >= 99.5 => String::new(),
                    share => format!(" ({} %)", number::significant(share, 2)),
                };
                let comparative = match self.value {
                    EndValue::Regret => "less",
                    EndValue::Answer(Quantity::StoppingTime) => "sooner",
                    EndValue::Accuracy | EndValue::Answer(_) => "less often",
                };
                // Runs that were cut off would have taken longer.
                let least = if next.stopped < leader.stopped { "at least " } else { "" };
                format!("{least}{}{share} {comparative} than {other}, the next", self.difference(pair))
            }
        };
        let evidence = self.evidence(pair);
        let is_tied = |place: &&Place| self.pair(label, &place.label).is_some_and(|pair| !pair.told_apart);
        let tied: Vec<&Place> = self.competing().filter(is_tied).collect();
        let further = match self.since() {
            _ if self.runs < self.fewest_runs => String::new(),
            Some(round) => {
                let of_all = if self.competing().count() > 2 { " of all others" } else { "" };
                let round = number::grouped(round);
                format!(" Of the recorded rounds, it is ahead{of_all} from round {round} on.")
            }
            None if tied.is_empty() => String::new(),
            None => format!(" It cannot be told apart from {}.", names(&tied)),
        };
        format!("{head}: {label}, {}; {than} ({evidence}).{further}", self.in_words(leader))
    }

    /// How surely the leader is ahead of the next policy.
    fn evidence(&self, pair: &Pair) -> String {
        if self.runs < self.fewest_runs {
            let runs =
                if self.runs == 1 { "one run does".to_owned() } else { format!("{} runs do", self.runs) };
            let fewest = self.fewest_runs;
            return format!("{runs} not show whether this is more than chance: at least {fewest} are needed");
        }
        if !pair.told_apart {
            return pair.runs_needed.map_or_else(
                || "which may be chance".to_owned(),
                |runs| format!("about {} runs would tell a difference of this size", number::grouped(runs)),
            );
        }
        let how_surely = match pair.z {
            Some(z) => format!("z = {}", number::fixed(z, usize::from(z < 10.0))),
            None => "the same in every run".to_owned(),
        };
        let chance = self.chance();
        let counted_in = match self.comparisons {
            1 => String::new(),
            many => format!(", all {} comparisons counted", number::grouped(many as u64)),
        };
        format!("{how_surely}; by chance in less than 1 of {chance} experiments{counted_in}")
    }

    /// Facts that the order of the means hides: wrong answers, runs without one, other medians.
    fn doubts(&self, leader: &Place, competing: &[&Place]) -> Option<String> {
        let share = |share: f64| number::significant(100.0 * share, 3);
        let mut doubts = Vec::new();
        let mut pairs = self.pairs.iter().filter(|pair| pair.better == leader.label);
        if let Some(pair) = pairs.find(|pair| pair.less_often_right == Some(true)) {
            doubts.push(format!("{} is right less often than {}.", leader.label, pair.worse));
        }
        let stopped = |place: &&&Place| place.stopped.is_some_and(|stopped| stopped < 1.0);
        let mut capped = competing.iter().filter(stopped).map(|place| {
            format!("{} % of the runs of {}", share(1.0 - place.stopped.unwrap_or(1.0)), place.label)
        });
        let first = capped.by_ref().take(NAMED).join(", ");
        if !first.is_empty() {
            let more = match capped.count() {
                0 => String::new(),
                more => format!(" and some of {more} more"),
            };
            doubts.push(format!(
                "{first}{more} ended without an answer: their stopping times are at least as long as shown."
            ));
        }
        if self.has_parted_medians() {
            let lowest = competing.iter().filter_map(|place| Some((place.median?, place)));
            let lowest = lowest.min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((median, place)) = lowest.filter(|(median, _)| leader.median > Some(*median)) {
                doubts.push(format!(
                    "By the median of the runs, {} is best: {}, {} {}.",
                    place.label,
                    number::significant(median, 3),
                    leader.label,
                    number::significant(leader.median.unwrap_or(f64::NAN), 3)
                ));
            }
        }
        (!doubts.is_empty()).then(|| doubts.join(" "))
    }

    /// How many neighbours behind the next policy cannot be told apart.
    fn further_ties(&self, competing: &[&Place]) -> Option<String> {
        // Runs that were all cut off at the same round do not show which is faster.
        let neighbours = competing.windows(2).skip(1).filter(|two| two[0].stopped != Some(0.0));
        let pairs: Vec<&Pair> =
            neighbours.filter_map(|pair| self.pair(&pair[0].label, &pair[1].label)).collect();
        let ties = pairs.iter().filter(|pair| !pair.told_apart).count();
        (ties > 0 && self.runs >= self.fewest_runs).then(|| {
            let of = counted(pairs.len() as u64, "further pair");
            format!("Of {of} of neighbours in this order, {ties} cannot be told apart.")
        })
    }

    /// The value of a policy: `regret 120.3 ± 2.1 clicks after 1,000 rounds`.
    fn in_words(&self, place: &Place) -> String {
        let factor = self.factor();
        let value = estimate(factor * place.mean, place.se.map(|se| factor * se));
        let after =
            self.rounds.map_or_else(String::new, |rounds| format!(" after {}", counted(rounds, "round")));
        match self.value {
            EndValue::Regret => format!("regret {value} {}{after}", self.unit),
            EndValue::Answer(Quantity::StoppingTime) => {
                let right = place.correct.map(|correct| number::significant(100.0 * correct, 3));
                let right =
                    right.map_or_else(String::new, |right| format!(", right in {right} % of the runs"));
                let value = match place.stopped {
                    Some(stopped) if stopped < 1.0 => {
                        format!("at least {}", number::significant(place.mean, 4))
                    }
                    _ => value,
                };
                format!("stops after {value} rounds{right}")
            }
            EndValue::Accuracy | EndValue::Answer(_) => format!("wrong in {value} % of the runs{after}"),
        }
    }

    /// A difference as a number, with a unit if it is not that of the values.
    fn difference(&self, pair: &Pair) -> String {
        let factor = self.factor();
        let difference = estimate(factor * pair.difference, pair.se.map(|se| factor * se));
        if self.unit.is_empty() { format!("{difference} percentage points") } else { difference }
    }

    /// Shares are shown in per cent.
    fn factor(&self) -> f64 {
        if self.unit.is_empty() { 100.0 } else { 1.0 }
    }
}

/// How much of the spread of a difference comes from users that runs share.
fn of_users(pair: &Pair) -> Option<String> {
    let share = pair.share_of_users?;
    let percent = number::with_error(100.0 * share.mean, 100.0 * share.se);
    Some(format!(
        "Of the variance of the difference between {} and {} over runs, {percent} % comes from the users that were drawn, the rest from \
         chance in their clicks and in the policies.",
        pair.better, pair.worse
    ))
}

/// A description of a policy that learns nothing.
fn learns_nothing(place: &Place) -> Option<&'static str> {
    match place.policy.as_str() {
        "uniform" => Some("which learns nothing"),
        "logged" => Some("the ranking of the log"),
        _ => None,
    }
}

/// The names of policies; of many, the first ones.
fn names(places: &[&Place]) -> String {
    let labels: Vec<&str> = places.iter().map(|place| place.label.as_str()).collect();
    match labels[..] {
        [one] => one.to_owned(),
        [ref first @ .., last] if labels.len() <= NAMED => format!("{} and {last}", first.join(", ")),
        _ => format!("{} and {} more", labels[..NAMED - 1].join(", "), labels.len() - (NAMED - 1)),
    }
}

/// The share of what personal lists gain that a policy has earned, on users who differ.
fn earned(place: &Place) -> Option<String> {
    let share = place.earned?;
    Some(if share > 0.0 {
        let percent = number::significant(100.0 * share, 2);
        format!(
            "{} has earned {percent} % of what personal lists gain on one list for all users.",
            place.label
        )
    } else {
        format!("{} has lost more than the best single list for all users would.", place.label)
    })
}
