//! Lemmas on the log-likelihood ratio of two instances, on which the lower bounds rest: PBM paper,
//! Lemmas 2, 12 and 13; RSF paper, Lemmas 7 and 8; `CascadeBAI` paper, Lemmas 5.10, 5.11 and D.3.
//!
//! Everything is enumerated: all histories of a policy that chooses lists by its history and stops
//! when its history says so. There is no sampling, so the only tolerance is for rounding.

use crate::support::{all_lists, assert_close};
use click_models::Ranking;
use confidence::bernoulli_kl;

/// The examined positions.
#[derive(Debug, Clone, Copy)]
enum Users {
    /// Every position on its own; the learner sees the clicks only.
    PositionBased([f64; 2]),
    /// The first positions, and the learner sees how many.
    SemiBandit([f64; 2]),
    /// All positions down to the first click.
    Cascade,
}

/// One possible feedback: what the learner sees, coded as a number, its probability, and the
/// log-likelihood of the clicks alone.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    code: u64,
    probability: f64,
    log_likelihood: f64,
}

/// A click or none with this probability of a click.
fn observed(click: bool, chance: f64) -> f64 {
    if click { chance } else { 1.0 - chance }
}

impl Users {
    /// All feedback to a list of two items, in the same order for every `theta`.
    fn outcomes(self, list: &Ranking, theta: &[f64]) -> Vec<Outcome> {
        let [first, second] = [0, 1].map(|position: usize| theta[list[position].index()]);
        // The probability that the learner sees these positions at all, and the factors of the
        // clicks on them.
        let outcome = |code: u64, seen: f64, factors: &[f64]| Outcome {
            code,
            probability: seen * factors.iter().product::<f64>(),
            log_likelihood: factors.iter().map(|&factor| libm::log(factor)).sum(),
        };
        let clicks = [(false, false), (false, true), (true, false), (true, true)];
        match self {
            Self::PositionBased(kappa) => (0..)
                .zip(clicks)
                .map(|(code, (a, b))| {
                    outcome(code, 1.0, &[observed(a, kappa[0] * first), observed(b, kappa[1] * second)])
                })
                .collect(),
            Self::SemiBandit(kappa) => {
                let short = (0..)
                    .zip([false, true])
                    .map(|(code, a)| outcome(code, kappa[0] - kappa[1], &[observed(a, first)]));
                let long = (2..).zip(clicks).map(|(code, (a, b))| {
                    outcome(code, kappa[1], &[observed(a, first), observed(b, second)])
                });
                short.chain(long).collect()
            }
            Self::Cascade => vec![
                outcome(0, 1.0, &[first]),
                outcome(1, 1.0, &[1.0 - first, second]),
                outcome(2, 1.0, &[1.0 - first, 1.0 - second]),
            ],
        }
    }

    /// The information of one display of a list: `I_a` of the PBM paper, `K_a` of the RSF paper,
    /// and for the cascade the mean number of observations of every item times its divergence.
    fn information(self, list: &Ranking, theta: &[f64], lambda: &[f64]) -> f64 {
        let [first, second] = [0, 1].map(|position: usize| list[position].index());
        match self {
            Self::PositionBased(kappa) => {
                bernoulli_kl(kappa[0] * theta[first], kappa[0] * lambda[first])
                    + bernoulli_kl(kappa[1] * theta[second], kappa[1] * lambda[second])
            }
            Self::SemiBandit(kappa) => {
                kappa[0] * bernoulli_kl(theta[first], lambda[first])
                    + kappa[1] * bernoulli_kl(theta[second], lambda[second])
            }
            Self::Cascade => {
                bernoulli_kl(theta[first], lambda[first])
                    + (1.0 - theta[first]) * bernoulli_kl(theta[second], lambda[second])
            }
        }
    }
}

/// Mixes a history with the next feedback.
fn mixed(history: u64, code: u64) -> u64 {
    let next = (history ^ (code + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    next ^ (next >> 29)
}

/// Sums over all histories until the policy stops.
#[derive(Debug, Default)]
struct Sums {
    /// The mean of the log-likelihood ratio at the end, under `theta`.
    log_ratio: f64,
    /// The mean number of displays of every list, under `theta`.
    plays: Vec<f64>,
    /// The probability of an event that the history decides, under `theta` and under `lambda`.
    event: [f64; 2],
    /// The mean of its indicator times the exponential of minus the log-likelihood ratio, under
    /// `theta`.
    tilted: f64,
}

struct Play<'a> {
    users: Users,
    lists: Vec<Ranking>,
    theta: &'a [f64],
    lambda: &'a [f64],
}

impl Play<'_> {
    const LONGEST: u32 = 5;

    fn sums(&self, seed: u64) -> Sums {
        let mut sums = Sums { plays: vec![0.0; self.lists.len()], ..Sums::default() };
        self.visit(mixed(seed, 0), 0, [1.0, 1.0], 0.0, &mut sums);
        sums
    }

    /// A history with its probabilities under `theta` and `lambda`, and its log-likelihood ratio.
    fn visit(&self, history: u64, round: u32, chances: [f64; 2], log_ratio: f64, sums: &mut Sums) {
        if round == Self::LONGEST || round > 0 && (history >> 8).is_multiple_of(4) {
            sums.log_ratio += chances[0] * log_ratio;
            if !(history >> 16).is_multiple_of(2) {
                sums.event[0] += chances[0];
                sums.event[1] += chances[1];
                sums.tilted += chances[0] * libm::exp(-log_ratio);
            }
            return;
        }
        let choice = usize::try_from(history >> 24 & 0xffff).unwrap() % self.lists.len();
        let list = &self.lists[choice];
        sums.plays[choice] += chances[0];
        let outcomes = self.users.outcomes(list, self.theta);
        for (truth, other) in outcomes.iter().zip(self.users.outcomes(list, self.lambda)) {
            let chances = [chances[0] * truth.probability, chances[1] * other.probability];
            let log_ratio = log_ratio + truth.log_likelihood - other.log_likelihood;
            self.visit(mixed(history, truth.code), round + 1, chances, log_ratio, sums);
        }
    }
}

const ALL_USERS: [Users; 4] = [
    Users::PositionBased([0.9, 0.4]),
    Users::PositionBased([1.0, 1.0]),
    Users::SemiBandit([1.0, 0.35]),
    Users::Cascade,
];
const THETA: [f64; 3] = [0.6, 0.35, 0.1];

/// Instances to tell from [`THETA`]: all items changed, and one at a time.
const OTHERS: [[f64; 3]; 4] = [[0.2, 0.5, 0.7], [0.6, 0.35, 0.65], [0.6, 0.8, 0.1], [0.3, 0.35, 0.1]];

fn each(mut check: impl FnMut(&Play, &Sums)) {
    for users in ALL_USERS {
        for lambda in &OTHERS {
            let play = Play { users, lists: all_lists(3, 2), theta: &THETA, lambda };
            for seed in 0..20 {
                check(&play, &play.sums(seed));
            }
        }
    }
}

#[test]
fn outcomes_are_all_there_are() {
    for users in ALL_USERS {
        for list in all_lists(3, 2) {
            let sum: f64 = users.outcomes(&list, &THETA).iter().map(|outcome| outcome.probability).sum();
            assert_close(sum, 1.0, 1e-14, "probabilities of all feedback");
        }
    }
}

/// PBM paper, Lemma 2, and the second step of the RSF paper's Lemma 7: the mean log-likelihood
/// ratio is the information of a list times its mean number of displays, added up. `CascadeBAI`
/// paper, Lemma 5.10 and the equality of Lemma 5.11.
#[test]
fn the_mean_log_likelihood_ratio_is_information_times_displays() {
    each(|play, sums| {
        let told =
            |(list, plays): (&Ranking, &f64)| plays * play.users.information(list, play.theta, play.lambda);
        let information: f64 = play.lists.iter().zip(&sums.plays).map(told).sum();
        assert_close(sums.log_ratio, information, 1e-12, "mean log-likelihood ratio");
    });
}

/// PBM paper, Lemma 13; RSF paper, Lemma 8: the probability of an event under the other instance,
/// from the ratio.
#[test]
fn the_ratio_changes_the_measure() {
    each(|_, sums| assert_close(sums.tilted, sums.event[1], 1e-12, "probability of the event under lambda"));
}

/// PBM paper, Lemma 12; RSF paper, Lemma 7; `CascadeBAI` paper, Lemmas 5.11 and D.3: no event
/// separates the instances better than the ratio.
#[test]
fn the_mean_log_likelihood_ratio_exceeds_the_divergence_of_any_event() {
    let mut tightest: f64 = 0.0;
    each(|_, sums| {
        let divergence = bernoulli_kl(sums.event[0], sums.event[1]);
        assert!(divergence <= sums.log_ratio * (1.0 + 1e-12), "{divergence} above {}", sums.log_ratio);
        tightest = tightest.max(divergence / sums.log_ratio);
    });
    // A ratio that is half as large would be noticed.
    assert!(tightest > 0.5, "{tightest}");
}

/// The examination enters the divergence: Lemma 2 with the information of an uncensored user, as in
/// Remark 7, does not hold.
#[test]
fn information_without_censoring_is_noticed() {
    let play = Play { users: ALL_USERS[0], lists: all_lists(3, 2), theta: &THETA, lambda: &OTHERS[0] };
    let sums = play.sums(1);
    let uncensored = Users::SemiBandit([0.9, 0.4]);
    let told = |(list, plays): (&Ranking, &f64)| plays * uncensored.information(list, &THETA, &OTHERS[0]);
    let information: f64 = play.lists.iter().zip(&sums.plays).map(told).sum();
    assert!(information > 1.1 * sums.log_ratio, "{information} {}", sums.log_ratio);
}
