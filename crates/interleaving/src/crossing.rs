//! When a random walk crosses the boundary of a test: the constants of planned looks, and the users
//! that a test takes at any power and level.
//!
//! Reference: Armitage et al., *Repeated significance tests on accumulating data*, JRSS A
//! 1969 (the recursion over looks). Numerics: Simpson's rule on 101 places a look, whose constants
//! agree with published ones to four decimals. Complexity: 10,000 exponentials a look.

use confidence::sequence::{CoinMixture, ConfidenceSequence as _};
use libm::exp;
use std::f64::consts::PI;

/// Places of a motion at a look: an odd number.
const PLACES: usize = 101;

/// A Brownian motion at looks after equal times, stopped at the first one at which its size
/// reaches a boundary.
#[derive(Debug)]
pub(crate) struct StoppedMotion {
    /// The time of the last look.
    end: f64,
    /// Places at the last look, with the probability without a drift that it gets there.
    going_on: Vec<(f64, f64)>,
}

impl StoppedMotion {
    /// `boundary` has the size that stops at a time.
    pub(crate) fn new(n_looks: u32, end: f64, boundary: impl Fn(f64) -> f64) -> Self {
        let step = end / f64::from(n_looks);
        let mut going_on = vec![(0.0, 1.0)];
        for look in 1..=n_looks {
            let reach = boundary(step * f64::from(look));
            let width = 2.0 * reach / (PLACES - 1) as f64;
            let place = |k: usize| {
                let to = k as f64 * width - reach;
                let density: f64 = going_on
                    .iter()
                    .map(|(from, mass)| mass * exp(-(to - from) * (to - from) / (2.0 * step)))
                    .sum();
                let weight = [2.0, 4.0][k % 2] / if k == 0 || k == PLACES - 1 { 2.0 } else { 1.0 };
                (to, density * weight * width / (3.0 * (2.0 * PI * step).sqrt()))
            };
            going_on = (0..PLACES).map(place).collect();
        }
        Self { end, going_on }
    }

    /// The probability that it is stopped with a drift, from Girsanov's likelihood ratio.
    pub(crate) fn power(&self, drift: f64) -> f64 {
        let ratio = |place: f64| exp(drift * place - 0.5 * drift * drift * self.end);
        1.0 - self.going_on.iter().map(|&(place, mass)| mass * ratio(place)).sum::<f64>()
    }

    /// The mean at the end, in its standard deviations, of a motion that is stopped with
    /// probability `power`.
    pub(crate) fn mean(&self, power: f64) -> f64 {
        let (mut low, mut high) = (0.0, 20.0 / self.end.sqrt());
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            *(if self.power(middle) < power { &mut low } else { &mut high }) = middle;
        }
        low * self.end.sqrt()
    }
}

/// The number of users after which a ranker that wins the share `share` of them is found with
/// probability `power`, with a look after each. Users are counted in blocks of `block`: a step of
/// the walk is as long as the standard deviation of a block's lead.
pub(crate) fn users_until_found(share: f64, power: f64, miss: f64, block: u64) -> u64 {
    let length = (block as f64).sqrt();
    let up = 0.5 + (share - 0.5) * length;
    // The probabilities of the leads from `-lead` to `lead`, of the parity of the steps.
    let (mut going_on, mut lead) = (std::collections::VecDeque::from([1.0]), 0_u64);
    let (mut users, mut found) = (0, 0.0);
    while found < power {
        users += block;
        lead += 1;
        going_on.push_back(0.0);
        let mut below = 0.0;
        for mass in &mut going_on {
            (below, *mass) = (*mass, below * up + *mass * (1.0 - up));
        }
        let decides = |lead: u64| {
            let more = (lead as f64 * length).round();
            let winners = 0.5 * (users as f64 + more);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the users")]
            let winners = winners as u64;
            let wins = || CoinMixture::with_counts(miss, winners, users - winners).expect("a valid miss");
            winners <= users && !wins().contains(0.5)
        };
        while lead > 0 && decides(lead) {
            found += going_on.pop_front().unwrap_or(0.0) + going_on.pop_back().unwrap_or(0.0);
            lead = lead.saturating_sub(2);
        }
    }
    users
}
