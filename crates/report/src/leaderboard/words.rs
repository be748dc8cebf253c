//! A leaderboard in sentences. There are few of them, however many policies there are.

use super::{Leaderboard, Pair, Place, estimate};
use documents::number::{self, counted};
use experiment::result::{EndValue, Quantity};
use num_traits::ToPrimitive as _;
use std::fmt::{self, Write as _};

const NAMED: usize = 3;
/// The number of further pairs that are not told apart and get a sentence each.
const PAIRS: usize = 2;

impl fmt::Display for Leaderboard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sentences().iter().try_for_each(|sentence| writeln!(formatter, "{sentence}"))
    }
}

impl Leaderboard {
    /// The leaderboard in a few paragraphs. Empty without policies.
    pub fn sentences(&self) -> Vec<String> {
        let earned = self.places.iter().filter(|place| !place.is_oracle).filter_map(earned);
        self.compared().into_iter().chain(earned).collect()
    }

    /// Which policy is ahead.
    fn compared(&self) -> Vec<String> {
        let competing: Vec<&Place> = self.competing().collect();
        match (competing.as_slice(), self.places.as_slice()) {
            ([only], _) => return self.only(only),
            ([], [only]) => return self.only(only),
            _ => {}
        }
        let [leader, next, ..] = competing[..] else { return Vec::new() };
        let Some(pair) = self.pair(&leader.label, &next.label) else { return Vec::new() };
        if competing.iter().all(|place| place.stopped == Some(0.0)) {
            let rounds = counted(self.rounds.unwrap_or(0), "round");
            return vec![format!(
                "No policy stopped within {rounds}, so their stopping times are not known."
            )];
        }
        if self.runs < self.fewest_runs {
            let sentences = std::iter::once(self.too_few_runs(&competing, next, pair));
            return sentences.chain(self.doubts(leader, &competing)).collect();
        }
        let is_tied =
            |place: &&Place| self.pair(&leader.label, &place.label).is_some_and(|pair| !pair.told_apart);
        let tied: Vec<&Place> = competing.iter().copied().filter(is_tied).collect();
        let mut sentences = vec![if pair.told_apart {
            self.lead(leader, next, pair, &tied)
        } else {
            self.tie(leader, next, pair, &tied, competing.len())
        }];
        sentences.extend(of_users(pair));
        sentences.extend(self.doubts(leader, &competing));
        sentences.extend(self.further_ties(&competing, &tied));
        sentences
    }

    /// One policy, which nothing is compared with.
    fn only(&self, place: &Place) -> Vec<String> {
        let value = match place.stopped {
            Some(0.0) => format!("no run stopped within {}", counted(self.rounds.unwrap_or(0), "round")),
            _ => self.in_words(place),
        };
        let compared =
            if place.is_oracle { "It knows the users." } else { "No other policy to compare it with." };
        let sentence = format!("{}: {value}. {compared}", place.label);
        std::iter::once(sentence).chain(self.doubts(place, &[place])).collect()
    }

    /// One policy is ahead of the next.
    fn lead(&self, leader: &Place, next: &Place, pair: &Pair, tied: &[&Place]) -> String {
        let how_surely = match pair.z {
            Some(z) => format!("z = {}", number::fixed(z, usize::from(z < 10.0))),
            None => "the same in every run".to_owned(),
        };
        let counted_in = match self.comparisons {
            1 => String::new(),
            many => format!(", all {} comparisons counted", number::grouped(many as u64)),
        };
        let chance = libm::round(1.0 / self.level).to_u64().map_or_else(String::new, number::grouped);
        let share = match 100.0 * pair.difference / next.mean {
            share if self.unit.is_empty() || !share.is_finite() || share >= 99.5 => String::new(),
            share => format!(" ({} %)", number::significant(share, 2)),
        };
        let mut sentences: Vec<String> = Vec::new();
        if let Some(caveat) = learns_nothing(leader) {
            sentences.push(format!("No policy is ahead of {}, {caveat}.", leader.label));
        }
        // If runs were cut off, the difference is a least one, and its error is not known.
        let cut_off = leader.stopped == Some(1.0) && next.stopped.is_some_and(|stopped| stopped < 1.0);
        let (difference, evidence) = if cut_off {
            let least = number::significant(pair.difference, 4);
            let runs = if next.stopped == Some(0.0) { "all" } else { "some" };
            (format!("at least {least}"), format!("{runs} of whose runs were cut off; "))
        } else {
            (self.difference(pair), format!("{how_surely}; "))
        };
        let evidence = format!("{evidence}by chance in less than 1 of {chance} experiments{counted_in}");
        sentences.push(format!(
            "{}: {}, {}; {difference}{share} {} than {}, the next ({evidence}).",
            self.head(leader),
            leader.label,
            self.in_words(leader),
            self.comparative(),
            next.label,
        ));
        if let Some(round) = self.since() {
            let of_all = if self.competing().count() > 2 { " of all others" } else { "" };
            let round = number::grouped(round);
            sentences.push(format!("Of the recorded rounds, it is ahead{of_all} from round {round} on."));
        } else if !tied.is_empty() {
            let vary = if tied.len() == 1 { "which varies" } else { "which vary" };
            sentences.push(format!("It cannot be told apart from {}, {vary} more.", names(tied)));
        }
        sentences.join(" ")
    }

    /// In how many runs a policy named the right items; begins with a comma.
    fn how_often_right(&self, place: &Place) -> String {
        let right = place.correct.and_then(|correct| libm::round(correct * self.runs as f64).to_u64());
        right.map_or_else(String::new, |right| {
            format!(", right in {} of {}", number::grouped(right), counted(self.runs, "run"))
        })
    }

    /// The fastest policy that is not surely right less often than a slower one, if the leader is.
    fn fastest_reliable(&self, leader: &Place) -> Option<&Place> {
        self.more_reliable(leader)?;
        let is_reliable = |place: &&Place| {
            place.stopped.is_some_and(|stopped| stopped > 0.0) && self.more_reliable(place).is_none()
        };
        self.competing().find(is_reliable)
    }

    /// A description of the leader, as the first words of the sentence.
    fn head(&self, leader: &Place) -> &'static str {
        match self.value {
            EndValue::Answer(Quantity::StoppingTime) if leader.correct.is_some_and(|share| share < 0.5) => {
                "Fastest, but more often wrong than right"
            }
            EndValue::Answer(Quantity::StoppingTime) if self.more_reliable(leader).is_some() => {
                "Fastest, but less often right"
            }
            EndValue::Answer(Quantity::StoppingTime) => "Fastest",
            EndValue::Regret | EndValue::Accuracy | EndValue::Answer(_) => "Best",
        }
    }

    /// A policy that is surely right more often than the leader.
    fn more_reliable(&self, leader: &Place) -> Option<&Place> {
        let mut pairs = self.pairs.iter().filter(|pair| pair.better == leader.label);
        let pair = pairs.find(|pair| pair.less_often_right == Some(true))?;
        self.competing().find(|place| place.label == pair.worse)
    }

    /// The policy with the lowest mean cannot be told apart from the next.
    fn tie(&self, leader: &Place, next: &Place, pair: &Pair, tied: &[&Place], n_competing: usize) -> String {
        let mut sentences = vec![if tied.len() == 1 {
            format!(
                "{} and {} cannot be told apart: {} and {}, {}.{}",
                leader.label,
                next.label,
                self.in_words(leader),
                estimate_in(self, next),
                self.how_close(pair),
                Self::needed(pair)
            )
        } else {
            let nearest = match pair.runs_needed {
                Some(runs) => format!(
                    "About {} runs would tell it from {} ({}).",
                    number::grouped(runs),
                    next.label,
                    self.how_close(pair)
                ),
                None => format!("It and {}: {}.", next.label, self.how_close(pair)),
            };
            format!(
                "No single best: {} ({}) cannot be told apart from {}. {nearest}",
                leader.label,
                self.in_words(leader),
                names(tied)
            )
        }];
        // The best policy that is surely behind the leader.
        let behind = self.pairs.iter().find(|pair| pair.better == leader.label && pair.told_apart);
        if let Some(behind) = behind {
            let more = match n_competing - 2 - tied.len() {
                0 => String::new(),
                more => format!(", and of {more} more"),
            };
            sentences.push(format!(
                "{} is ahead of {} ({} {}){more}.",
                leader.label,
                behind.worse,
                self.difference(behind),
                self.comparative()
            ));
        }
        sentences.join(" ")
    }

    /// There are not enough runs to tell policies apart.
    fn too_few_runs(&self, competing: &[&Place], next: &Place, pair: &Pair) -> String {
        let runs = match self.runs {
            1 => "One run does".to_owned(),
            runs => format!("{runs} runs do"),
        };
        let leader = competing[0];
        let equal: Vec<&Place> =
            competing.iter().copied().take_while(|place| place.mean == leader.mean).collect();
        if equal.len() > 1 {
            return format!(
                "{} are equal on average: {}. {runs} not show whether this is more than chance: at least {} are needed.",
                names(&equal),
                self.in_words(leader),
                self.fewest_runs
            );
        }
        format!(
            "Best on average: {}, {}; {} {} than {}, the next. {runs} not show whether this is more than chance: at least {} are \
             needed.",
            leader.label,
            self.in_words(leader),
            self.difference(pair),
            self.comparative(),
            next.label,
            self.fewest_runs,
        )
    }

    /// Further facts about the leader, and about runs without an answer.
    fn doubts(&self, leader: &Place, competing: &[&Place]) -> Option<String> {
        let share = |share: f64| number::significant(100.0 * share, 3);
        let mut doubts = Vec::new();
        let other = self.more_reliable(leader);
        if let Some((other, right)) = other.and_then(|other| Some((other, (leader.correct?, other.correct?))))
        {
            doubts.push(format!(
                "{} is right less often than {}: in {} % of the runs, {} in {} %.",
                leader.label,
                other.label,
                share(right.0),
                other.label,
                share(right.1)
            ));
        }
        if let Some(reliable) = self.fastest_reliable(leader) {
            doubts.push(format!(
                "Of the policies that no slower one exceeds in right answers, {} is the fastest: {}.",
                reliable.label,
                self.in_words(reliable)
            ));
        }
        let never: Vec<&Place> =
            competing.iter().copied().filter(|place| place.stopped == Some(0.0)).collect();
        if !never.is_empty() {
            doubts.push(format!("No run of {} ended with an answer.", names(&never)));
        }
        let is_capped = |stopped: &f64| 0.0 < *stopped && *stopped < 1.0;
        let capped: Vec<(f64, &Place)> = competing
            .iter()
            .filter_map(|place| Some((1.0 - place.stopped.filter(is_capped)?, *place)))
            .collect();
        if let [(first, place), rest @ ..] = capped.as_slice() {
            let mut text = format!("{} % of the runs of {}", share(*first), place.label);
            for (part, place) in rest.iter().take(NAMED - 1) {
                let _ = write!(text, ", {} % of {}", share(*part), place.label);
            }
            if capped.len() > NAMED {
                let _ = write!(text, " and of {} more", capped.len() - NAMED);
            }
            doubts.push(format!(
                "{text} ended without an answer: their stopping times are at least as long as shown."
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

    /// Neighbours behind the leader that cannot be told apart.
    fn further_ties(&self, competing: &[&Place], tied: &[&Place]) -> Vec<String> {
        let is_told = |place: &&Place| tied.iter().any(|other| other.label == place.label);
        let neighbours: Vec<&Pair> = competing
            .windows(2)
            .skip(1)
            .filter(|pair| !pair.iter().all(&is_told))
            .filter_map(|pair| self.pair(&pair[0].label, &pair[1].label))
            .collect();
        // Runs that were all cut off at the same round do not show which is faster.
        let never = |label: &str| competing.iter().any(|p| p.label == label && p.stopped == Some(0.0));
        let says_nothing = |pair: &Pair| pair.told_apart || never(&pair.better) && never(&pair.worse);
        let ties: Vec<&Pair> = neighbours.iter().copied().filter(|pair| !says_nothing(pair)).collect();
        if ties.len() > PAIRS {
            return vec![format!(
                "Of the {} further pairs of neighbours in this order, {} cannot be told apart.",
                neighbours.len(),
                ties.len()
            )];
        }
        let sentence = |pair: &&Pair| {
            let (better, worse) = (&pair.better, &pair.worse);
            format!(
                "{better} and {worse} cannot be told apart: {}.{}",
                self.how_close(pair),
                Self::needed(pair)
            )
        };
        ties.iter().map(sentence).collect()
    }

    /// The value of a policy: `regret 120.3 ± 2.1 clicks after 1,000 rounds`.
    fn in_words(&self, place: &Place) -> String {
        let value = estimate_in(self, place);
        let after =
            self.rounds.map_or_else(String::new, |rounds| format!(" after {}", counted(rounds, "round")));
        match self.value {
            EndValue::Regret => format!("regret {value} {}{after}", self.unit),
            EndValue::Answer(Quantity::StoppingTime) => {
                format!("stops after {value} rounds{}", self.how_often_right(place))
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

    fn how_close(&self, pair: &Pair) -> String {
        if pair.difference == 0.0 && pair.se == Some(0.0) {
            return "equal in every run".to_owned();
        }
        format!("difference {}", self.difference(pair))
    }

    /// How many runs would help; begins with a space.
    fn needed(pair: &Pair) -> String {
        pair.runs_needed.map_or_else(String::new, |runs| {
            format!(" About {} runs would tell a difference of this size.", number::grouped(runs))
        })
    }

    fn comparative(&self) -> &'static str {
        match self.value {
            EndValue::Regret => "less",
            EndValue::Answer(Quantity::StoppingTime) => "sooner",
            EndValue::Accuracy | EndValue::Answer(_) => "less often",
        }
    }

    /// Shares are shown in per cent.
    fn factor(&self) -> f64 {
        if self.unit.is_empty() { 100.0 } else { 1.0 }
    }
}

/// The value of a policy, without its unit.
fn estimate_in(leaderboard: &Leaderboard, place: &Place) -> String {
    let factor = leaderboard.factor();
    estimate(factor * place.mean, place.se.map(|se| factor * se))
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
